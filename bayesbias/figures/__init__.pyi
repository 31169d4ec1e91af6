from .change import (
    plot_changes as plot_changes,
    plot_ranking as plot_ranking,
    plot_raw_pairs as plot_raw_pairs,
    save_comparison_figures as save_comparison_figures,
)
from .critique import plot_false_alarms as plot_false_alarms, plot_paper as plot_paper
from .sentences import (
    plot_seat as plot_seat,
    plot_seat_contrasts as plot_seat_contrasts,
    save_seat_figures as save_seat_figures,
)
from .sentiment import (
    plot_noun_pairs as plot_noun_pairs,
    plot_professions as plot_professions,
    plot_sentiment_predictive as plot_sentiment_predictive,
    save_sentiment_figures as save_sentiment_figures,
)
from .sentiment_scatter import plot_earnings as plot_earnings, plot_genders as plot_genders
from .words import save_figures as save_figures

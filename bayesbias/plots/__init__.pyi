from .change import (
    plot_changes as plot_changes,
    plot_controls as plot_controls,
    plot_ranking as plot_ranking,
    plot_raw_pairs as plot_raw_pairs,
)
from .critique import plot_false_alarms as plot_false_alarms, plot_paper as plot_paper
from .frequency import (
    plot_frequencies as plot_frequencies,
    plot_frequency_contrasts as plot_frequency_contrasts,
)
from .plates import Plate as Plate
from .saving import save_figures as save_figures
from .sentences import (
    plot_seat as plot_seat,
    plot_seat_contrasts as plot_seat_contrasts,
)
from .sentiment import (
    plot_noun_pairs as plot_noun_pairs,
    plot_professions as plot_professions,
    plot_sentiment_predictive as plot_sentiment_predictive,
)
from .sentiment_scatter import plot_earnings as plot_earnings, plot_genders as plot_genders
from .slopes import plot_slopes as plot_slopes
from .style import figure_style as figure_style
from .sweeps import plot_sweep as plot_sweep
from .vectors import plot_cosines as plot_cosines, plot_dimensions as plot_dimensions
from .wefat import plot_correlations as plot_correlations, plot_covariate as plot_covariate

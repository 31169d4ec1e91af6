from .change import (
    plot_changes as plot_changes,
    plot_controls as plot_controls,
    plot_corpora as plot_corpora,
    plot_ranking as plot_ranking,
    plot_raw_pairs as plot_raw_pairs,
)
from .forest import (
    plot_frequencies as plot_frequencies,
    plot_frequency_contrasts as plot_frequency_contrasts,
    plot_replicates as plot_replicates,
    plot_slopes as plot_slopes,
    plot_sweep as plot_sweep,
)
from .responses import (
    plot_earnings as plot_earnings,
    plot_genders as plot_genders,
    plot_noun_pairs as plot_noun_pairs,
    plot_professions as plot_professions,
    plot_response_items as plot_response_items,
    plot_response_models as plot_response_models,
    plot_response_templates as plot_response_templates,
)
from .sentences import (
    plot_correlations as plot_correlations,
    plot_covariate as plot_covariate,
    plot_seat as plot_seat,
    plot_seat_contrasts as plot_seat_contrasts,
)
from .simulation import plot_false_alarms as plot_false_alarms, plot_paper as plot_paper
from .style import figure_style as figure_style, save_figure as save_figure
from .words import plot_cosines as plot_cosines, plot_dimensions as plot_dimensions

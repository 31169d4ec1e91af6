from .change import join_pairs as join_pairs
from .counts import WordCounts as WordCounts, load_counts as load_counts
from .coverage import Loss as Loss, LossKind as LossKind, losses as losses
from .facts import join_facts as join_facts
from .matching import matched_controls as matched_controls

from .association import effect_size as effect_size
from .permutation import (
    PermutationResult as PermutationResult,
    holm as holm,
    permutation_test as permutation_test,
)

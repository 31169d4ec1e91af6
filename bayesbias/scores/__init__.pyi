from .association import effect_size as effect_size
from .categories import sc_weat as sc_weat
from .factual import WefatScore as WefatScore, wefat_score as wefat_score
from .negative import rnsb as rnsb
from .permutation import (
    PermutationResult as PermutationResult,
    holm as holm,
    permutation_test as permutation_test,
)
from .relations import ect as ect, ripa as ripa
from .resampling import sign_flip_test as sign_flip_test

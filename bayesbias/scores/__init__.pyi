from .association import mac as mac, sc_weat as sc_weat, weat as weat
from .resampling import permutation_test as permutation_test
from .vectors import (
    direct_bias as direct_bias,
    ect as ect,
    relative_norm_distance as relative_norm_distance,
    ripa as ripa,
    rnsb as rnsb,
)
from .wefat import wefat_score as wefat_score

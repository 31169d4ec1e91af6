from .association import sc_weat as sc_weat
from .resampling import permutation_test as permutation_test
from .vectors import ect as ect, ripa as ripa, rnsb as rnsb
from .wefat import wefat_score as wefat_score

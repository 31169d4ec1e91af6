from .subspace import Debiased as Debiased

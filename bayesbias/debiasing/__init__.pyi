from .account import Debiased as Debiased

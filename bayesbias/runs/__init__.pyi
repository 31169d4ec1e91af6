from .opening import Run as Run, open_run as open_run
from .saving import save_run as save_run

from .opening import Run as Run

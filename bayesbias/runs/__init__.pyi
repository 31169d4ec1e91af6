from .opening import Run as Run
from .verifying import FileState as FileState, Verification as Verification, verify_run as verify_run

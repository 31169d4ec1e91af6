from .registry import interpret as interpret
from .page import write_report as write_report
from .store import Run as Run, load_run as load_run, save_run as save_run
from .terminal import to_text as to_text
from .to_json import to_json as to_json

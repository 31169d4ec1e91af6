from .json_text import to_json as to_json
from .paper import latex_table as latex_table
from .store import verify_run as verify_run
from .terminal import to_text as to_text

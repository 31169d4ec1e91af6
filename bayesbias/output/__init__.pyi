from .json_text import to_json as to_json
from .paper import latex_table as latex_table
from .terminal import to_text as to_text

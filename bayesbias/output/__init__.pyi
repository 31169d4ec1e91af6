from .paper import latex_table as latex_table
from .text import to_json as to_json, to_text as to_text

"""Advice that names options of a command, in the words of Python.

Sentences about a result name options, such as ``--draws``. Where Python prints them, an option is the
argument that it stands for.
"""

import re

_MORE = "bb.output.to_text(result, detail=True)"
# In the order in which they are replaced: special forms, options with a value, then the name alone.
_FORMS: tuple[tuple[str, str], ...] = (
    (r"--detail, or ([\w()]+), has", r"\1 has"),
    (r"--detail\b", _MORE),
    (r"--postprocess (\w+)", r'load_embedding(path, postprocess="\1")'),
    (r"--compare-models", "compare_models"),
    (r"--outcome refused", "refused=True"),
    (r"--controls 2022", 'controls="2022"'),
    (r"--(model) (robust|default|ordered)", r'\1="\2"'),
    (r"--(controls) (matched)", r'\1="\2"'),
    (r"--(neutralize) (all_others)", r'\1="\2"'),
    (r"--(contexts) (\d+)", r"\1=\2"),
    (r'--columns "(\w+)=([^"]+)"', r'\1="\2"'),
    (r"--columns (?=\w+=)", ""),
    (r"--(ordered|bayes)\b", r"\1=True"),
)
_MAP = re.compile(r'--map(?: "([^"]+)")?')
_OPTION = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)")


def in_python(text: str) -> str:
    """Return a sentence with options of a command as arguments of Python.

    Examples
    --------
    >>> in_python("Center them (--postprocess center), or raise --draws.")
    'Center them (load_embedding(path, postprocess="center")), or raise draws.'
    >>> in_python('--map "Hire=1,Reject=0" changes this.')
    'values={"Hire": 1, "Reject": 0} changes this.'
    >>> in_python("7 more rows: --detail.")
    '7 more rows: bb.output.to_text(result, detail=True).'
    """
    if "--" not in text:
        return text
    for pattern, form in _FORMS:
        text = re.sub(pattern, form, text)
    text = _MAP.sub(_values, text)
    return _OPTION.sub(lambda option: option[1].replace("-", "_"), text)


def _values(option: re.Match[str]) -> str:
    """Return the argument for labels and their numbers."""
    if option[1] is None:
        return "values"
    pairs = []
    for pair in option[1].split(","):
        label, _, number = pair.rpartition("=")
        pairs.append(f'"{label}": {number}')
    return f"values={{{', '.join(pairs)}}}"

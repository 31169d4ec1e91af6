"""Social association in vectors and classifiers, pair by pair, with honest uncertainty.

The flow, and the folder of each step:

    words          a word list: classes of people, their stereotypes, and control words
    vectors        an embedding, and the words it lacks; ``encoders`` for sentences, ``classifiers`` for sentiment,
                   ``debiasing`` for vectors changed on purpose
    tables         every pair of a word and an attribute, one row each, with its distance
    models         what is believed of a pair before it is seen: a TOML file
    inference      the fit: posteriors of connections, classes and words, and of their contrasts
    plots          what it looks like
    output         terminal text, HTML page, run folder and JSON

>>> import bayesbias as bb
>>> vectors = bb.load_embedding("minilm-static", words=bb.load_wordlist("gender").words)
>>> table = bb.distance_table(vectors, "gender")
>>> fit = bb.fit(table, "crossed", seed=1)
>>> said = bb.interpret(fit)

Beside it stand the averaged scores in common use (``scores``), simulations of what they and the
models do (``simulation``), and many fits at once (``sweeps``). The studies, ``seat`` of sentence
encoders, ``sentiment_analysis`` of sentiment classifiers and ``compare`` of debiased with original
vectors, are in ``studies``.

The names here are those of the flow, listed in the stub beside this file. Every other public name
is in its folder: ``bayesbias.plots.plot_seat``, ``bayesbias.wordlists.list_wordlists``.
"""

from typing import Any as _Any

from bayesbias.core.packages import attach
from bayesbias.core.result import register as _register

__version__ = "0.2.0"
__getattr__, __dir__, __all__ = attach(__name__, __file__)
__all__ += ["__version__"]


def _abilities() -> _Any:
    """Load what results do by the help of upper layers: print, plot, report, save."""
    from bayesbias.output import abilities

    return abilities


_register(_abilities)

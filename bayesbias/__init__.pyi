"""The names of the flow; every other public name is in its folder."""

from . import wordlists as wordlists
from . import embeddings as embeddings
from . import encoders as encoders
from . import classifiers as classifiers
from . import tables as tables
from . import models as models
from . import inference as inference
from . import scores as scores
from . import studies as studies
from . import simulation as simulation
from . import sweeps as sweeps
from . import plots as plots
from . import output as output
from . import lesson as lesson
from .wordlists.wordlist import WordList as WordList
from .wordlists.listfile import load_wordlist as load_wordlist, pairs as pairs
from .wordlists.sentence_tests import sentence_test as sentence_test
from .embeddings.embedding import Embedding as Embedding
from .embeddings.loading import load_embedding as load_embedding
from .embeddings.embedding import save_embedding as save_embedding
from .encoders.loading import load_encoder as load_encoder
from .encoders.encoding import encode as encode
from .classifiers.classifier import load_classifier as load_classifier
from .classifiers.predictions import score_sentences as score_sentences
from .classifiers.predictions import (
    load_predictions as load_predictions,
    list_predictions as list_predictions,
)
from .debiasing.methods import hard_debias as hard_debias
from .debiasing.methods import soft_debias as soft_debias
from .tables.pair_table import PairTable as PairTable
from .tables.distances import distance_table as distance_table
from .tables.reading import load_distances as load_distances
from .tables.sentences import sentence_table as sentence_table
from .tables.sentiment import sentiment_table as sentiment_table
from .models.spec import ModelSpec as ModelSpec, load_model as load_model
from .inference.fitting import fit as fit
from .inference.posterior import BiasFit as BiasFit
from .inference.fitting import load_fit as load_fit
from .inference.difference import difference as difference
from .inference.cross_validation import compare_models as compare_models
from .scores.association import mac as mac, weat as weat
from .scores.vectors import (
    direct_bias as direct_bias,
    relative_norm_distance as relative_norm_distance,
)
from .studies.sentences.seat import seat as seat
from .studies.debiasing.comparison import compare as compare
from .studies.replicates.pooling import (
    fit_replicates as fit_replicates,
    pool_replicates as pool_replicates,
    resample_contexts as resample_contexts,
)
from .studies.wefat.result import wefat as wefat
from .studies.sentiment.analysis import sentiment_analysis as sentiment_analysis
from .studies.sentiment.analysis import paired_test as paired_test
from .studies.responses.fitting import fit_responses as fit_responses
from .studies.responses.table import responses_table as responses_table
from .simulation.coverage import coverage_simulated as coverage_simulated
from .simulation.real_words import coverage_on_pools as coverage_on_pools
from .simulation.sample_size import sample_size as sample_size
from .sweeps.sweeping import run_sweep as run_sweep
from .plots.checks import plot_ppc as plot_ppc, plot_priors as plot_priors
from .plots.forest import plot_connections as plot_connections, plot_contrasts as plot_contrasts
from .plots.words import plot_words as plot_words
from .inference.view import View as View
from .output.page import write_report as write_report
from .output.paper import interpret as interpret
from .output.paper import methods_paragraph as methods_paragraph
from .output.store import load_run as load_run, save_run as save_run
from .core.errors import (
    BayesbiasError as BayesbiasError,
    FitError as FitError,
    InputError as InputError,
    ResourceError as ResourceError,
)

__version__: str

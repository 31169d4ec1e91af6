"""The names of the flow; every other public name is in its folder."""

from . import words as words
from . import vectors as vectors
from . import encoders as encoders
from . import classifiers as classifiers
from . import debiasing as debiasing
from . import tables as tables
from . import models as models
from . import inference as inference
from . import scores as scores
from . import studies as studies
from . import simulation as simulation
from . import sweeps as sweeps
from . import findings as findings
from . import figures as figures
from . import runs as runs
from .words.wordlist import WordList as WordList
from .words.listfile import load_wordlist as load_wordlist
from .words.pairing import pairs as pairs
from .words.sentence_making import sentence_test as sentence_test
from .vectors.embedding import Embedding as Embedding
from .vectors.loading import load_embedding as load_embedding
from .vectors.writing import save_word2vec as save_word2vec
from .encoders.loading import load_encoder as load_encoder
from .encoders.encoding import encode as encode
from .classifiers.loading import load_classifier as load_classifier
from .classifiers.predicting import predict as predict
from .classifiers.prediction_files import (
    read_predictions as read_predictions,
    shipped_predictions as shipped_predictions,
)
from .debiasing.hard import hard_debias as hard_debias
from .debiasing.soft import soft_debias as soft_debias
from .tables.pair_table import PairTable as PairTable
from .tables.distances import distance_table as distance_table
from .tables.reading import read_distances as read_distances
from .tables.sentences import sentence_table as sentence_table
from .tables.sentiment import sentiment_table as sentiment_table
from .models.spec import ModelSpec as ModelSpec
from .models.loading import load_model as load_model
from .inference.fitting import fit as fit
from .inference.posterior import BiasFit as BiasFit
from .inference.fitting import load_fit as load_fit
from .inference.prediction import compare_models as compare_models
from .scores.association import weat as weat
from .scores.averages import mac as mac
from .scores.projections import direct_bias as direct_bias, relative_norm_distance as relative_norm_distance
from .studies.sentences import seat as seat
from .studies.change import compare as compare
from .studies.single_category import single_category as single_category
from .studies.sentiment import published_analysis as published_analysis
from .studies.sentiment_tests import paired_test as paired_test
from .simulation.calibration import calibrate as calibrate
from .simulation.pools import calibrate_on as calibrate_on
from .simulation.planning import plan_words as plan_words
from .sweeps.sweeping import run_sweep as run_sweep
from .findings.of_result import finding as finding, findings_of as findings_of
from .figures.words import plot_connections as plot_connections, plot_words as plot_words
from .figures.contrasts import plot_contrasts as plot_contrasts
from .figures.predictive import plot_predictive as plot_predictive
from .figures.priors import plot_priors as plot_priors
from .report.page import write_report as write_report
from .runs.opening import open_run as open_run
from .runs.saving import save_run as save_run
from .basics.errors import BayesbiasError as BayesbiasError, FitError as FitError, InputError as InputError

__version__: str

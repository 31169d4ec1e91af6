from .classifier import Classifier as Classifier
from .predicting import ClassifierError as ClassifierError
from .predictions import Predictions as Predictions
from .training import train_bilstm as train_bilstm, train_bow as train_bow

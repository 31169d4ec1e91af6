from .bag_of_words import train_bow as train_bow
from .bilstm import train_bilstm as train_bilstm
from .classifier import Classifier as Classifier
from .predicting import ClassifierError as ClassifierError
from .prediction_files import Predictions as Predictions

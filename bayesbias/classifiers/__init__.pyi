from .classifier import Classifier as Classifier
from .training import train_bilstm as train_bilstm, train_bow as train_bow

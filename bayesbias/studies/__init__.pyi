from .association.frequency import frequency_of as frequency_of, with_frequency as with_frequency
from .debiasing.geometry import find_construction as find_construction
from .requirements import check_requirements as check_requirements
from .responses.fitting import fit_responses as fit_responses
from .responses.placebo import fit_placebo as fit_placebo
from .responses.readers import load_responses as load_responses
from .sentences.seat import leave_one_out as leave_one_out
from .sentiment.analysis import fit_sentiment as fit_sentiment

from .association.frequency import frequency_of as frequency_of, with_frequency as with_frequency
from .corpora.comparing import CorpusComparison as CorpusComparison
from .debiasing.comparison import Comparison as Comparison
from .debiasing.construction import Forced as Forced, find_construction as find_construction
from .debiasing.geometry import Left as Left, Related as Related, find_geometry as find_geometry
from .debiasing.requirements import (
    Check as Check,
    Requirement as Requirement,
    check_requirements as check_requirements,
)
from .replicates.pooling import Replicates as Replicates
from .responses.fitting import (
    ResponsesResult as ResponsesResult,
    fit_responses as fit_responses,
)
from .responses.readers import load_responses as load_responses
from .responses.table import Responses as Responses, response_sentences as response_sentences
from .sentences.result import SeatResult as SeatResult
from .sentences.seat import leave_one_out as leave_one_out
from .sentiment.analysis import SentimentAnalysis as SentimentAnalysis
from .sentiment.fitting import (
    classifier_contrasts as classifier_contrasts,
    fit_sentiment as fit_sentiment,
)
from .sentiment.published import (
    earnings_correlation as earnings_correlation,
    noun_pair_differences as noun_pair_differences,
    profession_sentiment as profession_sentiment,
    top_bottom as top_bottom,
)
from .wefat.result import WefatResult as WefatResult

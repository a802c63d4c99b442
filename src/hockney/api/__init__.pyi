"""What `hockney.api` offers, and where each name stands: lazy_loader reads this list."""

from .campaign import Campaign as Campaign
from .checks import CheckAnswer as CheckAnswer
from .checks import check as check
from .comparison import Comparison as Comparison
from .evaluation import Evaluation as Evaluation
from .fitted import fit_to_file as fit_to_file
from .functions import compare as compare
from .functions import evaluate as evaluate
from .functions import fit as fit
from .functions import load as load
from .functions import load_machine as load_machine
from .functions import predict as predict
from .functions import report as report
from .functions import tune as tune
from .identification import identify as identify
from .machine import Machine as Machine
from .pages import CardAnswer as CardAnswer
from .pages import Page as Page
from .pages import write_report as write_report
from .predictions import predict_collective as predict_collective
from .predictions import predict_datatype as predict_datatype
from .predictions import predict_fft as predict_fft
from .predictions import predict_messages as predict_messages
from .predictions import predict_profile as predict_profile
from .tuning import Tuning as Tuning
from .views import show as show

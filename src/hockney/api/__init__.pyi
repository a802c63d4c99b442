"""What `hockney.api` offers, and where each name stands: lazy_loader reads this list."""

from .applied import Applied as Applied
from .applied import apply as apply
from .campaign import Campaign as Campaign
from .checks import CheckAnswer as CheckAnswer
from .checks import check as check
from .comparison import Comparison as Comparison
from .evaluation import Evaluation as Evaluation
from .functions import compare as compare
from .functions import evaluate as evaluate
from .functions import fit as fit
from .functions import load as load
from .functions import load_machine as load_machine
from .functions import predict as predict
from .functions import report as report
from .functions import tune as tune
from .machine import Machine as Machine
from .pages import Page as Page
from .tuning import TuneAnswer as TuneAnswer
from .tuning import Tuning as Tuning
from .tuning import Verification as Verification
from .tuning import tune_file as tune_file

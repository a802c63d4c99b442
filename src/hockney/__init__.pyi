from hockney.api import Campaign as Campaign
from hockney.api import Machine as Machine
from hockney.api import compare as compare
from hockney.api import evaluate as evaluate
from hockney.api import fit as fit
from hockney.api import load as load
from hockney.api import load_machine as load_machine

__version__: str

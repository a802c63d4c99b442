"""What the package offers by itself; lazy_loader reads this list."""

from .api import Campaign as Campaign
from .api import Machine as Machine
from .api import compare as compare
from .api import evaluate as evaluate
from .api import fit as fit
from .api import load as load
from .api import load_machine as load_machine

__version__: str

"""`hockney run`: small applications on your MPI.

Its verbs stand in the folders of the applications.
"""

from __future__ import annotations

from hockney.apps.run import run as run

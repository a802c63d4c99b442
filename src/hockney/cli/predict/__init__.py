"""`hockney predict`: the time of a message, a collective or an application that was not measured.

Verbs on applications stand in their folders.
"""

from __future__ import annotations

from hockney.predict.verb import predict as predict

"""`hockney predict` of messages, collectives and datatypes; verbs on applications stand in their folders."""

from __future__ import annotations

from hockney.predict.verb import predict as predict

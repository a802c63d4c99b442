"""Hockney: measure, model, predict and tune MPI communication."""

from __future__ import annotations

__version__ = "0.1.0"

"""Applications: run, and predicted."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from hockney.apps.launched import Told as Told
from hockney.progress import Progress, silent
from hockney.report.application import AppAnswer, apps


def run_application(name: str, models: Mapping[str, BaseModel], told: Told) -> AppAnswer:
    """Run it as these options say; `told` hears what happens. RequestError for what cannot be."""
    return apps.get(name).answer("run", models, told)


def predict_application(name: str, models: Mapping[str, BaseModel], progress: Progress = silent) -> AppAnswer:
    """Predict it; RequestError where nothing can be said."""
    return apps.get(name).answer("predict", models, progress)

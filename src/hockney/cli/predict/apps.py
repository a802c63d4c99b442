"""Verbs of `hockney predict` on applications, each declared by the module `app` of its folder."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from hockney import api
from hockney.cli._applications import enter
from hockney.cli.predict import predict
from hockney.terminal import say


def _predict(name: str, models: Mapping[str, BaseModel], as_json: bool) -> object:
    with say.progress(quiet=as_json) as progress:
        return api.predict_application(name, models, progress)


enter("predict", predict, _predict)

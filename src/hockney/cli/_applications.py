"""The verbs on applications: one for each that declares a question, all made alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import typer
from pydantic import BaseModel

from hockney.options.apps import questions
from hockney.terminal import JsonOption, answer_no, say, verb


def enter(kind: str, of: typer.Typer, ask: Callable[[str, Mapping[str, BaseModel], bool], object]) -> None:
    """Enter a verb for each application; `ask` takes its name, the models, and whether JSON is asked for."""
    for name, question in questions(kind).items():

        def answered(*, json: bool, name: str = name, **models: BaseModel) -> None:
            _show(ask(name, models, json), as_json=json)

        function = question.function(answered, json=JsonOption)
        function.__name__ = name
        verb(name, examples=question.examples, of=of)(function)


def _show(answer: Any, *, as_json: bool) -> None:
    if as_json:
        say.json(answer)
    else:
        for part in answer.text():
            if isinstance(part, str):
                say.line(part)
                continue
            say.texts(part.caption, part.columns, part.rows, part.text)
        say.warnings(answer.caveats())
    for what, why in answer.wrong():
        say.wrong(what, why)
    if answer.is_no:
        answer_no()

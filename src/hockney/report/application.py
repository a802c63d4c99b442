"""An application as it is declared, once: what its verbs are asked, and the words of its page. Nothing heavy."""

from __future__ import annotations

import importlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from hockney.registry import Registry

if TYPE_CHECKING:
    from hockney.report.tables import Table

Kind = Literal["run", "predict"]
Row = dict[str, str | float | bool | None]
"""Plain values by the names of a frame's columns."""


@dataclass(frozen=True)
class Question:
    """What `hockney run` or `predict` is asked of an application: its help, examples, and models of options.

    `models` may leave out fields, as of a verb's parameters. Those in `without_machine` stand in place of a
    machine file, which is why `Machine.predict` does not take them.
    """

    text: str
    examples: str
    models: Mapping[str, Any]
    without_machine: Sequence[str] = ()

    def of_a_machine(self) -> dict[str, type[BaseModel]]:
        """The models that a machine file goes with; those in its place are left out."""
        return {name: model for name, model in self.models.items() if name not in self.without_machine}

    def function(self, answer: Callable[..., Any], **more: Any) -> Callable[..., Any]:
        """`answer` as a function that has these models, and `more`, as its parameters."""

        def asked(**given: Any) -> Any:
            return answer(**given)

        asked.__doc__ = self.text
        asked.__annotations__ = {**self.models, **more}
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters = [inspect.Parameter(name, keyword, annotation=kind) for name, kind in self.models.items()]
        parameters += [
            inspect.Parameter(name, keyword, annotation=kind, default=False) for name, kind in more.items()
        ]
        asked.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return asked


@dataclass(frozen=True)
class App:
    """An application whose times are those of one `unit` of its work: a sweep, a cycle. `rate` heads the rates.

    `about` explains the numbers of its page, `about_bound` the bound of the rate, `about_prediction` the
    predictions. Its folder holds `run.py` with a function `run`, `predict.py` with `predict` where it has one,
    and `section.py` (see `app_sections`): they are imported when they are called.
    """

    name: str
    title: str
    meaning: str
    run: Question
    predict: Question | None = None
    unit: str = ""
    rate: str = ""
    about: str = ""
    about_bound: str = ""
    about_prediction: str = ""

    def answer(self, kind: Kind, models: Mapping[str, BaseModel], *told: object) -> AppAnswer:
        """What its function of that kind answers; `told` hears of warnings and of how far it is."""
        answer: AppAnswer = getattr(self.part(kind), kind)(*told, **models)
        return answer

    def part(self, name: str) -> Any:
        """A module of its folder."""
        return importlib.import_module(f"hockney.apps.{self.name}.{name}")


class AppAnswer(ABC):
    """An answer about an application: a dataclass whose fields are its JSON."""

    @abstractmethod
    def text(self) -> Iterable[str | Table]:
        """Lines and tables for people."""

    def caveats(self) -> Sequence[str]:
        """What a reader should know before the result is trusted: its `warnings`, where it has any."""
        return getattr(self, "warnings", ())

    def rows(self) -> list[Row]:
        """A prediction as rows of a frame."""
        raise NotImplementedError

    def limits(self) -> Sequence[str]:
        """What limits a frame of it."""
        return self.caveats()

    def wrong(self) -> Sequence[tuple[str, str]]:
        """Results that are not as they must be: what, and why."""
        return ()

    @property
    def is_no(self) -> bool:
        """Whether the answer is no."""
        return bool(self.wrong())


apps: Registry[App] = Registry("application", "hockney.apps", "reference/{}.md", "app")
"""Applications by name."""

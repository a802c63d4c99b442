"""A study is a TOML file: one of this folder by its name, or a user's own by its path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from hockney import reading
from hockney.campaign.plan import GROUPS, operation_words
from hockney.errors import RequestError
from hockney.fields import Seconds, from_toml
from hockney.registry import did_you_mean, unit_files
from hockney.runner.launchers.base import MapBy

FOLDER = Path(__file__).parent
HINT = "`hockney study show NAME` prints the file of a study; the documentation has a page on them"
MEASURE = "measure"
Value = str | bool | int | float
"""Of an option, as TOML has it; an option may have several."""
RUN = "run "


class StepFile(BaseModel):
    """One command of a study: `measure`, or `run APP`, with the options that would be written after it.

    Words in braces stand for what is known when a study begins: {ranks}, {powers} (1, 2, 4 … ranks) and
    {placement}. A list makes a command of each of its values, unless the option may be repeated.
    `quick` has the options that are different with --quick. With `each_library` the command is that of each MPI
    that is found here, unless --mpi names one. `a_run_s` is what a run of an application takes, in
    seconds or as `3s`, for the estimate; `a_quick_run_s` with --quick.
    """

    model_config = ConfigDict(extra="forbid")

    verb: str
    why: str = ""
    options: dict[str, Value | list[Value]] = Field(default_factory=dict)
    quick: dict[str, Value | list[Value]] = Field(default_factory=dict)
    a_run_s: Seconds = 3.0
    a_quick_run_s: Seconds | None = None
    each_library: bool = False

    @field_validator("verb")
    @classmethod
    def _is_known(cls, given: str) -> str:
        known = [MEASURE, *(RUN + name for name in _applications())]
        if given not in known:
            raise ValueError(f"{did_you_mean(given, known)}known: {', '.join(known)}")
        return given


class StudyFile(BaseModel):
    """A study: what it asks, what is measured for it, what is compared, and what its page shows.

    `needs`: operations of which a folder measured elsewhere must hold one at least. `parts`: names of shipped
    studies whose steps it has before its own; its `placements` are those of all.
    """

    model_config = ConfigDict(extra="forbid")

    question: str
    compares: str
    shows: str
    needs: Annotated[list[str], Field(min_length=1)]
    placements: Annotated[list[MapBy], Field(min_length=1)] = ["core"]
    card: bool = False
    parts: list[str] = []
    steps: list[StepFile] = []

    @model_validator(mode="after")
    def _has_steps(self) -> StudyFile:
        if not self.steps and not self.parts:
            raise ValueError("a study needs [[steps]], or parts")
        for name in self.parts:
            expect_known("study", name, names())
        if any(parse(reading.text(FOLDER / f"{name}.toml"), name).parts for name in self.parts):
            raise ValueError("a part of a study has no parts of its own")
        return self

    @field_validator("needs")
    @classmethod
    def _are_known(cls, given: list[str]) -> list[str]:
        known = [name for name in operation_words() if name not in GROUPS] + _applications()
        for name in given:
            expect_known("operation", name, known)
        return given


def expect_known(what: str, name: str, known: Sequence[str]) -> None:
    """ValueError for a name that is none of these, with the nearest."""
    if name not in known:
        raise ValueError(f"no {what} {name!r}: {did_you_mean(name, known)}known: {', '.join(known)}")


def _applications() -> list[str]:
    return unit_files("hockney.apps.{}.run")


class Study(BaseModel):
    """A study with its name and the text of its file."""

    name: str
    text: str
    file: StudyFile

    def parts(self, chosen: Sequence[str] = ()) -> list[Study]:
        """Its parts, `chosen` ones or all, and its own steps last; itself where it has no parts.

        RequestError for a part that it does not have.
        """
        every = self.file.parts
        for name in chosen:
            if name not in every:
                known = f"{did_you_mean(name, every)}known: {', '.join(every) or 'none'}"
                raise RequestError(f"the study {self.name} has no part {name!r}", known)
        found = [load(FOLDER / f"{name}.toml") for name in every if not chosen or name in chosen]
        return [*found, *([self] if self.file.steps else [])]


def names() -> list[str]:
    """The studies of this folder."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def find(name_or_path: str) -> Study:
    """A study by its name, or by the path of a file.

    RequestError where there is neither, or the file is no study: what is wrong in it, and where.
    """
    if name_or_path in names():
        return load(FOLDER / f"{name_or_path}.toml")
    path = Path(name_or_path)
    if path.suffix == ".toml" or "/" in name_or_path:
        return load(path)
    raise RequestError(
        f"there is no study {name_or_path!r}",
        f"{did_you_mean(name_or_path, names())}known: {', '.join(names())}; or the path of a file of your own",
    )


def load(path: Path) -> Study:
    """The study of a file; RequestError as of `find`."""
    text = reading.text(path, HINT)
    return Study(name=path.stem, text=text, file=parse(text, str(path)))


def parse(text: str, name: str) -> StudyFile:
    """The study of a text that was read from `name`; RequestError as of `find`."""
    return from_toml(StudyFile, text, name, HINT)

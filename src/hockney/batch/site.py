"""A site file says what differs from one cluster to the next: `sites/NAME.toml`, or a user's own by its path."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator

from hockney import reading
from hockney.errors import RequestError
from hockney.fields import Seconds, from_toml
from hockney.records.answers import first_problem
from hockney.registry import did_you_mean, unit_files
from hockney.runner.mpi import KINDS
from hockney.units import words

HINT = "docs/how-to/batch.md lists what a site file may say"


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("a line of a job script holds no line break or control character")
    return text


Line = Annotated[str, AfterValidator(_one_line)]
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class Site(BaseModel):
    """What a cluster wants of its jobs; without a file, nothing but whole nodes for an hour.

    `partition` is a queue where the batch system calls it so, `account` a project or bank. `options` are further
    directives, as they stand after `#SBATCH` and its like. `modules` are loaded, `environment` is exported and
    the shell lines of `setup` are run before Hockney is, in that order. `mpi`, `launcher` and `system` are the
    options of those names; `launcher_options` are added to the launcher's command line.
    """

    model_config = ConfigDict(extra="forbid")

    system: Line = ""
    partition: Line = ""
    account: Line = ""
    walltime_s: Seconds = Field(default=3600.0, alias="walltime")
    cores_per_node: Annotated[int, Field(ge=1)] | None = None
    exclusive: bool = True
    options: list[Line] = Field(default_factory=list)
    modules: list[Line] = Field(default_factory=list)
    environment: dict[Variable, Line] = Field(default_factory=dict)
    setup: list[Line] = Field(default_factory=list)
    mpi: Line = ""
    launcher: Line = ""
    launcher_options: list[Line] = Field(default_factory=list)

    @field_validator("launcher")
    @classmethod
    def _is_known(cls, given: str) -> str:
        known = unit_files("hockney.runner.launchers")
        if given and given not in known:
            raise ValueError(f"no launcher {given!r}: {did_you_mean(given, known)}known: {', '.join(known)}")
        return given

    @field_validator("mpi")
    @classmethod
    def _is_mpi(cls, given: str) -> str:
        if given and "/" not in given and given not in ("auto", *KINDS) and not given.startswith("mpi"):
            raise ValueError(f"{given!r} is no MPI: write {', '.join(KINDS)}, a prefix or a wrapper")
        return given


def folder() -> Path:
    """Where a site is looked for by its name."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config", "hockney", "sites")


def names() -> list[str]:
    """The sites that can be named."""
    return sorted(path.stem for path in folder().glob("*.toml"))


BESIDE = ("partition", "account", "walltime")
"""What may be written beside the name of a site."""


def find(text: str) -> Site:
    """A site by its name or the path of its file, the default one for ""; `here,walltime=2h` says more.

    RequestError where there is neither, or where the file says what no site does: which key, and where.
    """
    said = words(text) if text else []
    settings = {key: value for word in said for key, equals, value in [word.partition("=")] if equals}
    if unknown := [key for key in settings if key not in BESIDE]:
        raise RequestError(
            f"--site: {unknown[0]!r} stands in a site file alone",
            f"beside it may stand {', '.join(BESIDE)}",
        )
    named = [word for word in said if "=" not in word]
    if len(named) > 1:
        raise RequestError(f"--site names two sites: {' and '.join(named)}", "name one")
    site = _named(named[0]) if named else Site()
    try:
        return Site.model_validate({**site.model_dump(by_alias=True), **settings})
    except ValidationError as error:
        raise RequestError(f"--site: {first_problem(error)}", HINT) from error


def _named(name_or_path: str) -> Site:
    path = Path(name_or_path)
    if path.suffix != ".toml" and "/" not in name_or_path:
        path = folder() / f"{name_or_path}.toml"
        if not path.is_file():
            known = names()
            raise RequestError(
                f"there is no site {name_or_path!r} in {folder()}",
                f"{did_you_mean(name_or_path, known)}known: {', '.join(known)}; or give the path of a file",
            )
    return from_toml(Site, reading.text(path, HINT), str(path), HINT)

"""The options of verbs that can write job scripts."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, field_validator, model_validator

from hockney.batch.site import Site, find, names
from hockney.fields import Option, flags_written
from hockney.registry import did_you_mean, unit_files
from hockney.vocabulary import BATCH

SYSTEMS = unit_files("hockney.batch.systems")


class Submission(BaseModel):
    """Whether a job script is written in place of the work, for which batch system, and what the job asks for."""

    submit: Annotated[
        str,
        Option(
            f"Write a job script for {', '.join(SYSTEMS)}, and measure nothing here.",
            show=None,
            known=lambda: SYSTEMS,
            metavar="SYSTEM",
            panel=BATCH,
        ),
    ] = ""
    now: Annotated[bool, Option(flags=("--now",), panel=BATCH)] = False
    site: Annotated[
        str,
        Option(known=names, metavar="NAME|FILE,…", panel=BATCH, commas=True),
    ] = ""
    jobs: Annotated[
        int,
        Option("Number of jobs that share the launches (--launches) of a campaign.", show=None, panel=BATCH),
        Field(ge=1, le=1000),
    ] = 1

    @field_validator("submit")
    @classmethod
    def _is_known(cls, given: str) -> str:
        if given and given not in SYSTEMS:
            raise ValueError(
                f"no batch system {given!r}: {did_you_mean(given, SYSTEMS)}known: {', '.join(SYSTEMS)}"
            )
        return given

    @model_validator(mode="after")
    def _submits_something(self) -> Submission:
        written = {name: called for name, called in flags_written(self).items() if name != "submit"}
        if written and not self.submit:
            raise ValueError(f"{', '.join(written.values())} is about jobs: add --submit {'|'.join(SYSTEMS)}")
        return self

    def chosen(self) -> Site:
        """The site; RequestError as of `find`."""
        return find(self.site)

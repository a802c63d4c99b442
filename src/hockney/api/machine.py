"""A machine: fitted or published models, the times they predict, and what else can be asked of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from hockney.api.shown import as_html
from hockney.machine import file
from hockney.machine.formula import bandwidth, latency
from hockney.machine.select import words
from hockney.models.base import Parameter, preferred_model

if TYPE_CHECKING:
    from hockney.api.comparison import Comparison
    from hockney.api.pages import Page
    from hockney.api.tuning import Tuning

Size = int | str
"""Bytes, or a text such as `"64KiB"`."""


@dataclass(frozen=True, repr=False)
class Machine:
    """The models of a system. `content` is the machine file (docs/reference/machine-file.md).

    `path`: the file that it was read from, or the campaign that it was fitted to.
    """

    content: file.Machine
    path: Path

    @classmethod
    def open(cls, path: str | Path) -> Machine:
        """A machine file, or a machine that comes with hockney, by its name; errors as `machine.file.load`."""
        return cls(file.load(Path(path)), Path(path))

    def save(self, path: str | Path) -> Path:
        """Write the machine file and return its path; RequestError where another file is there."""
        file.save(self.content, Path(path))
        return Path(path)

    @property
    def warnings(self) -> list[str]:
        """What should be known before the models are trusted."""
        return self.content.provenance.warnings

    @property
    def models(self) -> pd.DataFrame:
        """A row for each model of each kind of pair: latency (s), bandwidth (B/s), intervals, and errors."""
        rows = []
        for entry in self.content.point_to_point:
            for name, fit in entry.fits.items():
                quality = fit.quality
                rows.append(
                    {
                        **words(entry),
                        "model": name,
                        **_parts("latency_s", latency(fit)),
                        **_parts("bandwidth_B_per_s", bandwidth(entry, fit)),
                        "median_relative_error": quality and quality.median_relative_error,
                        "left_out_relative_error": quality and quality.leave_one_out_median,
                        "is_preferred": name == preferred_model(entry.fits),
                    }
                )
        return pd.DataFrame(rows)

    def predict(
        self,
        operation: str,
        *,
        bytes: Size | Sequence[Size] | None = None,  # noqa: A002 - the column's name
        ranks: int | Sequence[int] | None = None,
        algorithm: str | Sequence[str] = "all",
        **options: Any,
    ) -> pd.DataFrame:
        """Times of a message, a collective or an application, a row for each size, number of ranks and way.

        `options` are those of `hockney predict OPERATION`, with `_` for `-`: `segment="best"`,
        `topology="torus:8x8x8"`, `locality="network"`. A text is read as there; a number is in the unit of the
        frame's columns, seconds and bytes. `low_s` and `high_s` are the ends of the 95 % interval, empty where
        there is none. `attrs["warnings"]` of the frame holds what limits it.
        RequestError for what cannot be predicted.
        """
        from hockney.api.frames import frame

        asked = {"bytes": bytes, "ranks": ranks, "algorithm": None if algorithm == "all" else algorithm}
        filters = {name: value for name, value in asked.items() if value is not None}
        return frame(self.content, self.path, operation, {**filters, **options})

    def compare(self, other: Machine, *, points: bool = False) -> Comparison:
        """This machine (A) and another (B), quantity by quantity: see `hockney.api.comparison.compare`."""
        from hockney.api.comparison import compare

        names = str(self.path), str(other.path)
        return compare(names, (self.content, other.content), points=points)

    def tune(self, target: str, **options: Any) -> Tuning:
        """Rules by the model alone, for a library; `options` are those of `hockney tune`.

        RequestError as `hockney.api.tuning.of_machine`.
        """
        from hockney.api.tuning import chosen_by, of_machine

        return of_machine(self.content, chosen_by(self.path, target, options))

    def card(self, output: str | Path | None = None) -> Page:
        """The machine on a few printed pages, written to `output` where one is named."""
        from hockney.api.pages import Page
        from hockney.report.make import card

        made = Page(card(self.content))
        if output is not None:
            made.write(output)
        return made

    def __repr__(self) -> str:
        libraries = ", ".join(library.name or library.library for library in self.content.mpi)
        return ": ".join(filter(None, [self.content.system.name or str(self.path), libraries]))

    def _repr_html_(self) -> str:
        """The preferred model of each kind of pair."""
        machine, models = self.content, self.models
        if not models.empty:
            models = models[models["is_preferred"]].drop(columns="is_preferred")
            models = models.loc[:, [name for name in models if set(models[name]) - {"", None}]]
        more = {"effects": len(machine.effects), "models of collectives": len(machine.collectives)}
        counts = ", ".join(f"{count} {name}" for name, count in more.items() if count)
        return as_html(repr(self), models, [counts, *self.warnings])


def _parts(name: str, parameter: Parameter | None) -> dict[str, float | None]:
    ends = {f"{name}_low": "low", f"{name}_high": "high"}
    return {
        column: None if parameter is None else getattr(parameter, part)
        for column, part in {name: "value", **ends}.items()
    }

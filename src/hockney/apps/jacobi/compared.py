"""Measured tables of Jacobi beside the formula of weak scaling, and beside ranks that lose nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from hockney.apps.jacobi.links import Links
from hockney.apps.jacobi.printed import HaloModel, PrintedPrediction
from hockney.apps.jacobi.scaling import MeasuredGrid, ScalingTable
from hockney.errors import RequestError

LinksOf = Callable[[MeasuredGrid], Links]
"""λ and B of a run; RequestError where nothing says them."""


@dataclass(frozen=True)
class ComparedGrid:
    """A run, and P by the formula with the λ and B that it was made from; None where it says nothing of it."""

    run: MeasuredGrid
    predicted: PrintedPrediction | None
    links: Links | None

    @property
    def error(self) -> float | None:
        """Of the formula's P, relative to the measured one."""
        return None if self.predicted is None else self.predicted.mlups / self.run.mlups.value - 1


@dataclass(frozen=True)
class Compared:
    """A table beside the formula. `lacking`: why the formula says nothing of some runs."""

    table: ScalingTable
    rows: list[ComparedGrid]
    lacking: list[str]

    @property
    def links(self) -> list[Links]:
        """The different λ and B behind the rows."""
        return list(dict.fromkeys(row.links for row in self.rows if row.links is not None))

    def errors(self) -> dict[str, float | None]:
        """Median and largest |error| of P: by the formula, and by the baseline N P₁, where ranks lose nothing."""
        of_formula = [abs(row.error) for row in self.rows if row.error is not None]
        of_ideal = [abs(row.run.ratio.value - 1) for row in self.rows if row.run.ratio is not None]
        return {
            "formula_median": median(of_formula) if of_formula else None,
            "formula_largest": max(of_formula, default=None),
            "ideal_median": median(of_ideal) if of_ideal else None,
            "ideal_largest": max(of_ideal, default=None),
        }

    def as_data(self) -> dict[str, Any]:
        """For --json, SI units but for P in 10⁶ updates per second."""
        alone = self.table.alone
        return {
            "name": self.table.name,
            "scaling": "weak" if self.table.is_weak else "strong",
            "subdomain": self.table.side,
            "one_rank_mlups": alone.mlups.model_dump() if alone else None,
            "rows": [
                {
                    "ranks": row.run.grid.ranks,
                    "grid": str(row.run.grid),
                    "measured_mlups": row.run.mlups.model_dump(),
                    "measured_ratio": row.run.ratio.model_dump() if row.run.ratio else None,
                    "predicted": None
                    if row.predicted is None or row.links is None
                    else prediction_data(row.predicted, row.links),
                    "error": row.error,
                }
                for row in self.rows
            ],
            "errors": self.errors(),
            "lacking": self.lacking,
        }


def compare(table: ScalingTable, model: HaloModel, links_of: LinksOf) -> Compared:
    """The runs of a table beside P by the formula."""
    rows: list[ComparedGrid] = []
    lacking: dict[str, None] = {}
    for run in table.runs:
        predicted = links = None
        try:
            if table.side is not None and table.alone is not None:
                links = links_of(run)
                predicted = table.predicted(model, run, links)
        except RequestError as error:
            lacking[error.message] = None
        rows.append(ComparedGrid(run, predicted, links))
    return Compared(table, rows, list(lacking))


def prediction_data(prediction: PrintedPrediction, links: Links) -> Mapping[str, Any]:
    """One grid for --json. `ratio`: N P₁/P."""
    return {
        **vars(prediction),
        "grid": str(prediction.grid),
        "ratio": 1 / prediction.efficiency,
        "links": {
            "latency_s": links.latency_s.model_dump(),
            "bandwidth_B_per_s": links.bandwidth_B_per_s.model_dump(),
            "origin": links.origin,
        },
    }

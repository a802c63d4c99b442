"""Models of the library's collectives, and of named algorithms, from the times of a campaign or a tidy table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pandas as pd

from hockney.models.base import DEFAULT
from hockney.models.collectives.base import CollectiveModel
from hockney.models.collectives.fitting import factor_of, fit_collective
from hockney.models.collectives.pieces import CollectivePoints
from hockney.models.collectives.statements import views_of_fit
from hockney.models.over_ranks.points import CONFIGURATION, HELD, Configuration, groups, points
from hockney.records.columns import CHOICE
from hockney.records.contents import Contents
from hockney.records.series_of_table import default_statistic
from hockney.records.table import collectives_in
from hockney.statistics import Array
from hockney.units import counted

MOST_POINTS = 3000
"""Points that a machine file carries of one model."""
_OTHER = (*(name for name in CONFIGURATION if name != "mapping"), "ppn", "nodes")


def collectives_of(
    contents: Contents,
    progress: Callable[[str], None] = lambda _: None,
    statistics: Mapping[str, str] | None = None,
) -> list[CollectiveModel]:
    """A model of each operation, algorithm and placement; with a note, and no formula, where points are too few.

    Points that were met at another level of the machine than the rest are left out. `statistics`: the operations
    and the statistic of each; None: all, each by the one that says most.
    """
    frame, _ = contents.of_one_level()
    models = []
    if statistics is None:
        statistics = {name: default_statistic(frame, name) for name in collectives_in(frame)}
    for operation, statistic in statistics.items():
        pooled = points(frame, operation, statistic)
        measured = _measured(frame, operation, statistic, pooled)
        for configuration, rows in _alike(pooled):
            progress(f"{operation} {configuration['algorithm']}")
            model = _model(operation, statistic, configuration, rows)
            models.append(_with_circumstances(model, measured[measured["point"].isin(rows.index)]))
    return models


def _measured(frame: pd.DataFrame, operation: str, statistic: str, pooled: pd.DataFrame) -> pd.DataFrame:
    """What the rows of the table say of circumstances, and in `point` which of the points pools them."""
    of_it = (frame["operation"] == operation) & (frame["statistic"] == statistic)
    held = [name for name in HELD if name in frame.columns]
    columns = [name for name in ("repetition", "ranks", "oversubscribed") if name in frame.columns]
    rows = frame.loc[of_it, list(dict.fromkeys((*held, *columns)))]
    return rows.merge(pooled[held].assign(point=pooled.index), on=held)[[*columns, "point"]]


def _with_circumstances(model: CollectiveModel, rows: pd.DataFrame) -> CollectiveModel:
    """The model with the number of its launches, and from how many ranks on these shared cores, if any did."""
    with_circumstances = model.model_copy()
    with_circumstances.launches = int(rows["repetition"].nunique()) or None
    if "oversubscribed" in rows.columns and rows["oversubscribed"].notna().any():
        shared = rows[rows["oversubscribed"].isin([True])]
        with_circumstances.oversubscribed = not shared.empty
        if not shared.empty:
            first = int(shared["ranks"].min())
            note = f"from {counted(first, 'rank')} on, ranks shared a core: those times are the scheduler's"
            with_circumstances.notes = [*model.notes, note]
    return with_circumstances


def collective_points(operation: str, configuration: Configuration, rows: pd.DataFrame) -> CollectivePoints:
    """Rows of `over_ranks.points.points` that share an algorithm and its parameters."""

    def numbers(name: str) -> Array:
        return rows[name].to_numpy(np.float64)

    return CollectivePoints(
        operation,
        configuration["algorithm"],
        numbers("ranks"),
        numbers("bytes"),
        numbers("time_s"),
        numbers("low_s"),
        numbers("high_s"),
        int(configuration["segment_bytes"] or 0),
        int(configuration["radix"] or 0),
    )


def _alike(measured: pd.DataFrame) -> Iterator[tuple[Configuration, pd.DataFrame]]:
    """The points of each model. Where one rank count ran with several ranks a node, each of these has its own."""
    held = (*CONFIGURATION, *CHOICE)
    for configuration, rows in groups(measured[measured["ranks"].notna()], held):
        by = [name for name in ("ppn", "nodes") if _is_ambiguous(rows, name)]
        yield from groups(rows, (*held, *by[:1])) if by else [(configuration, rows)]


def _is_ambiguous(rows: pd.DataFrame, name: str) -> bool:
    return bool(rows.groupby(["ranks", "bytes"])[name].nunique(dropna=False).max() > 1)


def _model(operation: str, statistic: str, configuration: Configuration, rows: pd.DataFrame) -> CollectiveModel:
    measured = collective_points(operation, configuration, rows)
    algorithm = "" if measured.algorithm == DEFAULT else measured.algorithm
    other = {name: configuration[name] for name in _OTHER if configuration[name]}
    named = {
        "algorithm": algorithm,
        "mapping": configuration["mapping"],
        "other": other,
        "statistic": statistic,
    }
    model = fit_collective(measured)
    is_one = model.regimes and len(np.unique(measured.ranks)) == 1
    notes = [*model.notes, *(["one number of ranks: how it grows with P is not known"] if is_one else [])]
    model = _thinned(model.model_copy(update={**named, "notes": notes}), measured)
    return model.model_copy(update={"views": views_of_fit(model)})


def _thinned(model: CollectiveModel, measured: CollectivePoints) -> CollectiveModel:
    """The model with the points of every k-th number of ranks and of the last, so that `MOST_POINTS` are left.

    What is dropped is left out too: 95 % of it lie within the factor of a prediction.
    """
    counts = np.unique(measured.ranks)
    every = -(-len(model.points) // MOST_POINTS)
    kept = np.isin(measured.ranks, [*counts[::every], counts[-1]])
    if kept.all() or model.quality is None:
        return model
    thin = model.model_copy(update={"points": [model.points[place] for place in np.flatnonzero(kept)]})
    dropped = measured.take(~kept)
    missed = factor_of(thin.predicted(dropped.ranks, dropped.size_B).time_s / dropped.time_s)
    factors = [factor for factor in (model.quality.prediction_factor, missed) if factor is not None]
    quality = model.quality.model_copy(update={"prediction_factor": max(factors)})
    return thin.model_copy(update={"quality": quality})

"""What a link on the way costs: times between nodes by hops and size, as an effect of the machine file."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hockney.errors import RequestError
from hockney.machine.file import Entry
from hockney.machine.levels import measured_so
from hockney.machine.select import HOPS
from hockney.models.base import models
from hockney.models.effects._scaffold import time
from hockney.models.effects.base import Effect
from hockney.network.topologies.base import Network
from hockney.network.traffic.measured import HopLines, between_nodes, links_between
from hockney.records.record import Record
from hockney.records.series import completed
from hockney.units import grouped

if TYPE_CHECKING:
    from hockney.records.contents import Contents

COLUMNS = ("mean_s", "mean_reach_s", "per_hop_s", "per_hop_reach_s")
"""Of `HopLines`; 0 is written where a reach is not known."""


def hops_effects(contents: Contents, network: Network) -> list[Effect]:
    """Times by hops on `network`, hosts in the order of their names, of each MPI, variant and mapping.

    None without ping-pongs between nodes, in caches. An effect without parameters says why none was identified,
    as where hosts are not known.
    """
    effects = []

    def conditions(record: Record) -> tuple[str, ...]:
        return record.variant or "default", record.mpi, record.mapping, record.system, record.cache

    for (*where, cache), records in grouped(contents.settled.records, conditions).items():
        named = dict(zip(("variant", "mpi", "mapping", "system"), where, strict=True))
        effect = Effect.model_validate({"effect": HOPS, "locality": "network", **named})
        try:
            times = between_nodes(records if cache != "off" else (), contents.launches)
        except RequestError as error:
            effect.cannot_tell(error.message, "per_hop_s")
            effects.append(effect)
            continue
        if times.empty:
            continue
        time_s = completed(sizes := times.columns.to_numpy(float), times.to_numpy())
        sizes, time_s = (values[..., ~np.isnan(time_s).any(axis=0)] for values in (sizes, time_s))
        apart = links_between(contents.launches, network)
        hops = np.array([apart(*pair) for pair in times.index])
        effects.append(effect)
        effect.notes = [f"pairs of {sizes[0]:.0f} B on {network.spec}, hosts in the order of their names"]
        if len(np.unique(hops)) < 2:
            apart_all = f"all {len(hops)} pairs are {hops[0]} hops apart: measure pairs at another distance"
            effect.cannot_tell(apart_all, "per_hop_s")
            continue
        lines = HopLines.fitted(hops, sizes, time_s)
        if lines.per_hop.low is None:
            effect.notes.append("two pairs make a line and no interval")
        elif lines.per_hop.low <= 0:
            effect.notes.append("the latency of a hop may be 0")
        for name, fitted in (("base_s", lines.base), ("per_hop_s", lines.per_hop)):
            effect.know(name, fitted.value, "s", fitted.low, fitted.high)
        for name, links in (("mean", hops.mean()), ("least", hops.min()), ("most", hops.max())):
            effect.know(f"{name}_hops", float(links), "links")
        columns = [sizes, *(np.nan_to_num(getattr(lines, name)) for name in COLUMNS)]
        names = ("size_B", *COLUMNS)
        effect.points = [
            {"pairs": len(hops), **dict(zip(names, row, strict=True))} for row in np.stack(columns, -1).tolist()
        ]
        text = f"T(h) = {time(lines.base.value)} + {time(lines.per_hop.value)} · h"
        effect.state("exact", text, f"{hops.min()} ≤ h ≤ {hops.max()}")
    return effects


def at_hops(entry: Entry, effect: Effect, hops: int, model: str) -> tuple[Entry, float]:
    """The entry with its times as they are over so many links, and this model fitted to them.

    The interval of a point is that of another pair so far apart. Besides, how many times the measured links these
    are, more or fewer; 1 among them.
    """
    lines = {row["size_B"]: row for row in effect.points}
    mean, least, most = (effect.parameters[f"{name}_hops"].value for name in ("mean", "least", "most"))
    points = []
    for point in entry.measurements.points:
        if (line := lines.get(point.size_B)) is None:
            continue
        mean_s, mean_reach_s, each_s, each_reach_s = (float(line[name] or 0) for name in COLUMNS)
        time_s = mean_s + each_s * (hops - mean)
        reach_s = math.hypot(mean_reach_s, each_reach_s * (hops - mean))
        ends = (max(0.0, time_s - reach_s), time_s + reach_s, float(line["pairs"] or 0) - 2)
        known = dict(zip(("low_s", "high_s", "freedom"), ends if reach_s else (None,) * 3, strict=True))
        points.append(point.model_copy(update={"time_s": time_s, **known}))
    measured = measured_so(entry, points)
    measured.series = replace(measured.series, eager_limit_B=entry.eager_limit_B, breaks_B=tuple(entry.breaks_B))
    beyond = max(1.0, hops / most, least / hops)
    words = f"{hops}" if beyond == 1 else f"{hops} (extrapolated: measured were {least:g} to {most:g})"
    fits = {model: models.get(model)(measured.series)}
    moved = {"fits": fits, "measurements": measured, "other": {**entry.other, HOPS: words}}
    return entry.model_copy(update=moved), beyond

"""Campaigns of a broadcast whose times are known, and launches of trials whose times are planted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from tests.factories import collective

from hockney.campaign.plan import Plan
from hockney.records import table
from hockney.records.folder import Campaign
from hockney.records.journal import FailureLine
from hockney.records.record import Cache, Record
from hockney.runner.launchers.base import MapBy
from hockney.runner.variants import parse_variant

LIBRARY = "Open MPI 5.0.11"
MEASURED = "2026-01-02T03:04:05Z"
RANKS = 8
SIZES = (1024, 16384, 262144)
FAST, SLOW = "tuned:binomial", "tuned:basic_linear"
TIMES_S: Mapping[str, Sequence[float]] = {
    "default": (1e-4, 2e-4, 3e-3),
    FAST: (1e-4, 1e-4, 1e-3),
    SLOW: (5e-4, 1e-3, 1e-2),
}
"""Of the campaign that rules are made from: binomial is faster from 16 KiB on."""

Factors = Mapping[tuple[str, int], float]
"""How many times as long as the campaign's default a variant takes at a size; 1 where nothing is said."""


def record(size_B: int, time_s: float, **other: Any) -> Record:
    fields: dict[str, Any] = {
        "system": "planted",
        "mpi": LIBRARY,
        "mapping": "core",
        "variant": "default",
        "cache": "warm",
        "nodes": 8,
        "ppn": 1,
        "ranks": RANKS,
        "root": 0,
        "start": "window",
        "batch": 1,
        "verified": True,
        "samples": [time_s] * 20,
        "stop": "interval",
    }
    return collective(size_B, time_s, within=0.01, **{**fields, **other})


def campaign(
    folder: Path,
    width: float = 0.01,
    caches: Sequence[Cache] = ("warm",),
    mappings: Sequence[MapBy] = ("core",),
) -> Path:
    """A campaign with three algorithms at three sizes, whose intervals reach that share to either side."""
    plan = Plan(ranks=RANKS, operations=["bcast"], budget_s=0.01, caches=list(caches), mappings=list(mappings))
    made = Campaign.create(folder, plan.model_dump())
    made.append_all(
        record(
            *(size_B, time_s),
            low=(1 - width) * time_s,
            high=(1 + width) * time_s,
            algorithm=name,
            cache=cache,
            mapping=mapping,
            repetition=launch,
            launch=str(launch),
        )
        for cache, mapping in product(caches, mappings)
        for name, times_s in TIMES_S.items()
        for size_B, time_s in zip(SIZES, times_s, strict=True)
        for launch in range(3)
    )
    table.write(table.from_records(made.records()), made.table)
    return folder


class Measuring:
    """In the place of `measure_into`: launches whose times are the campaign's default times these factors.

    `noise` is the spread from launch to launch (a logarithm). `broken` are variants whose launches fail, `wrong`
    points with wrong results. `before` is called first.
    """

    def __init__(
        self,
        factors: Factors,
        *,
        noise: float = 0.01,
        broken: Sequence[str] = (),
        wrong: Sequence[tuple[str, int]] = (),
        mpi: str = LIBRARY,
        before: Callable[[Path], None] = lambda _: None,
    ) -> None:
        self.factors = factors
        self.noise = noise
        self.broken = broken
        self.wrong = wrong
        self.mpi = mpi
        self.before = before
        self.plans: list[Plan] = []

    def __call__(self, plan: Plan, folder: Path, what: str, _watching: object, **_: object) -> object:
        assert what
        self.before(folder)
        self.plans.append(plan)
        made = Campaign.create(folder, plan.model_dump())
        random = np.random.default_rng(1)
        for text in plan.variants:
            variant = parse_variant(text).name
            if variant in self.broken:
                made.append(
                    FailureLine.model_validate(
                        {"time": "", "index": 0, "variant": variant, "reason": "abort: unknown key"}
                    )
                )
                continue
            for size_B in plan.sizes_B:
                default_s = TIMES_S["default"][SIZES.index(size_B)]
                made.append_all(
                    record(
                        size_B,
                        default_s
                        * self.factors.get((variant, size_B), 1.0)
                        * float(np.exp(random.normal(0, self.noise))),
                        variant=variant,
                        repetition=launch,
                        launch=f"{variant}{launch}",
                        verified=(variant, size_B) not in self.wrong,
                        time=MEASURED,
                        mpi=self.mpi,
                    )
                    for launch in range(plan.launches)
                )
        return SimpleNamespace(failures=[])

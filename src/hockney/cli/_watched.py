"""`hockney identify --watch`: which algorithms of a library send what its default sends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hockney.errors import RequestError
from hockney.records.keys import COLLECTIVES
from hockney.terminal import say
from hockney.terminal.loading import later

with later():
    from hockney.campaign.plan import Launching, Plan
    from hockney.campaign.prepare import default_ranks
    from hockney.campaign.trust import doubt
    from hockney.predict.identified import Answer
    from hockney.predict.identify.told import known_defaults
    from hockney.predict.points import DEFAULT
    from hockney.predict.watched import watch
    from hockney.records import defaults, table
    from hockney.records.defaults import Defaults
    from hockney.records.folder import Campaign

LEAST_RANKS = 5
"""On fewer most algorithms send the same; counts do not depend on time, so that cores may be shared."""


@dataclass(frozen=True)
class Watching:
    """What is watched, and how it is launched: as the campaign was, where there is one."""

    source: Path | None
    operations: Sequence[str]
    ranks: Sequence[int]
    sizes_B: Sequence[int]
    mpi: str
    hosts: Sequence[str]
    trust: bool
    quiet: bool


@dataclass(frozen=True)
class _Part:
    """What a launch is asked for."""

    launching: Launching
    operations: Sequence[str]
    ranks: Sequence[int]
    sizes_B: Sequence[int]
    mpi: str = ""
    known: Defaults | None = None


def watched(asked: Watching, usual_B: Sequence[int]) -> tuple[list[Answer], list[str]]:
    """The answers, which a campaign's folder has by then, too; EnvironmentLack where it cannot be watched."""
    campaign = None if asked.source is None else _campaign(asked.source)
    part = _alone(asked, usual_B) if campaign is None else _as_campaign(campaign, asked)
    with say.progress(quiet=asked.quiet) as progress:
        done = watch(
            part.launching,
            part.operations,
            part.ranks,
            part.sizes_B,
            mpi=part.mpi,
            known=part.known,
            progress=progress,
        )
    if campaign is not None:
        with campaign.locked():
            defaults.add(campaign.path, done.time, done.cells)
    return done.answers, []


def _campaign(path: Path) -> Campaign:
    if path.is_dir():
        return Campaign.open(path)
    raise RequestError(
        f"{path} does not say how its ranks were launched, as --watch must know",
        "give the campaign folder, or leave it out and say --mpi and --ranks",
    )


def _alone(asked: Watching, usual_B: Sequence[int]) -> _Part:
    hosts = list(asked.hosts)
    ranks = sorted(set(_plural(asked.ranks))) or [max(LEAST_RANKS, default_ranks(hosts))]
    launching = Launching(mpi=asked.mpi or "auto", ranks=max(ranks), hosts=hosts)
    return _Part(
        launching, known_collectives(asked.operations) or list(COLLECTIVES), ranks, asked.sizes_B or usual_B
    )


def _as_campaign(campaign: Campaign, asked: Watching) -> _Part:
    """As the campaign's plan launches, and at its own defaults where nothing else is asked for."""
    plan = Plan.stored(campaign.plan(), campaign.path)
    if not asked.trust and (reason := doubt(campaign.path, plan, "--watch")):
        raise RequestError(reason, "look at its plan.json; --trust runs it all the same")
    frame = table.load(campaign.path)
    frame = frame[(frame["algorithm"] == DEFAULT) & frame["operation"].isin(list(COLLECTIVES))]
    if asked.operations:
        frame = frame[frame["operation"].isin(known_collectives(asked.operations))]
    if frame.empty:
        raise RequestError(
            f"{campaign.path} has no times of {DEFAULT} of a collective asked for",
            "leave it out, and say --mpi and --ranks",
        )
    ranks = sorted(set(_plural(asked.ranks))) or sorted(
        {int(count) for count in frame["ranks"] if int(count) > 1}
    )
    names = {name: getattr(plan, name) for name in Launching.model_fields}
    changed = {
        "ranks": max([plan.ranks, *ranks]),
        "mpi": asked.mpi or plan.mpi,
        "hosts": list(asked.hosts) or plan.hosts,
    }
    mpis = sorted(set(frame["mpi"]))
    return _Part(
        Launching.model_validate(names | changed),
        [name for name in COLLECTIVES if (frame["operation"] == name).any()],
        ranks,
        asked.sizes_B or sorted({int(size) for size in frame["bytes"]}),
        mpis[0] if len(mpis) == 1 else "",
        known_defaults(frame),
    )


def known_collectives(operations: Sequence[str]) -> list[str]:
    """The operations; RequestError where one is no collective."""
    for name in operations:
        if name not in COLLECTIVES:
            raise RequestError(f"{name!r} is not a collective", f"known: {', '.join(COLLECTIVES)}")
    return list(operations)


def _plural(ranks: Sequence[int]) -> Sequence[int]:
    for count in ranks:
        if count < 2:
            raise RequestError(f"--ranks {count}: 2 ranks or more can be watched", "ask for 5")
    return ranks

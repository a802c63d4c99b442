"""What runs of conjugate gradients say, in sentences: iterations, efficiency, caches, grids, writing."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.apps.cg.answer import CgAnswer
from hockney.apps.cg.iterations import laws
from hockney.apps.cg.solved import VECTORS, grid_of, name_of, size_of, speedups
from hockney.apps.stencil.caches import CacheStep, caches_of, steps
from hockney.apps.stencil.measured import cell_s_of, computation, unusable
from hockney.apps.stencil.told_apart import most_ranks_with_grids, which_grid
from hockney.records.app_record import AppRecord
from hockney.records.journal import LaunchLine
from hockney.report.findings import Finding
from hockney.units import format_bytes_rounded, format_rate, format_time

ANCHOR = "app-cg"
SUPER = 1.02
"""Efficiency above which a speed-up is said to be more than ideal."""


def findings(records: Sequence[AppRecord], launches: Sequence[LaunchLine] = ()) -> list[Finding]:
    """Sentences on all runs, the more telling first. `launches`: lines of launches.jsonl, with the caches."""
    found = [*_iterations(records), *_efficiency(records, launches), *_grids(records), *_written(records)]
    return sorted(found, key=lambda finding: -finding.weight)


def cache_steps(records: Sequence[AppRecord], launches: Sequence[LaunchLine]) -> dict[str, list[CacheStep]]:
    """Where a rank's vectors leave a cache, by formulation."""
    usable = [record for record in records if not unusable(record)]
    variants = dict.fromkeys(str(record.parameters["variant"]) for record in usable)
    caches = caches_of(launches)
    return {
        variant: steps(
            computation([record for record in usable if record.parameters["variant"] == variant]),
            VECTORS[variant],
            caches,
        )
        for variant in variants
    }


def _iterations(records: Sequence[AppRecord]) -> list[Finding]:
    found = []
    for (dimensions, eps), law in laws(records).items():
        power = law.exponent
        reach = (
            f" (95 %: {power.low:.3g} to {power.high:.3g})"
            if power.low is not None and power.high is not None
            else " (two sizes, no interval)"
        )
        text = (
            f"Conjugate gradients in {dimensions} dimensions to {eps:g}: iterations grow as n to the power "
            f"{power.value:.3g}{reach}, over {law.sizes} sizes, n from {law.smallest:.4g} to {law.largest:.4g}."
        )
        found.append(Finding(text, ANCHOR, 0.6))
    return found


def _efficiency(records: Sequence[AppRecord], launches: Sequence[LaunchLine]) -> list[Finding]:
    """Of each size and formulation, the most ranks; why it is more than ideal."""
    most: dict[str, tuple[AppRecord, float, float]] = {}
    for record, ratio in zip(records, speedups(records), strict=True):
        if ratio is None:
            continue
        known = most.get(name_of(record))
        if known is None or (record.ranks, ratio[1]) > (known[0].ranks, known[2]):
            most[name_of(record)] = record, *ratio
    found = []
    for name, (record, speedup, efficiency) in most.items():
        base = _base(records, record)
        reach = _reach(base, record)
        bounds = "" if reach is None else f", 95 %: {efficiency * reach[0]:.3g} to {efficiency * reach[1]:.3g}"
        text = (
            f"Conjugate gradients, {name}: {record.ranks} ranks on {grid_of(record)} are {speedup:.3g} times as "
            f"fast as {base.ranks}, efficiency {efficiency:.3g}{bounds}"
        )
        is_super = efficiency * (1.0 if reach is None else reach[0]) > SUPER
        why = f": more than ideal, {_why(base, record, launches)}" if is_super else ""
        found.append(Finding(f"{text}{why}.", ANCHOR, 0.8 if is_super else 0.5))
    return found


def _base(records: Sequence[AppRecord], record: AppRecord) -> AppRecord:
    """What `speedups` compares a run with: the fastest on the fewest ranks."""
    alike = [other for other in records if name_of(other) == name_of(record)]
    return min(alike, key=lambda other: (other.ranks, other.answer.read_as(CgAnswer).iteration_s))


def _reach(base: AppRecord, record: AppRecord) -> tuple[float, float] | None:
    """Factors from a ratio of their times to the ends of its interval, as independent; None without intervals."""
    bounds = [(one.low_s, one.time_s, one.high_s) for one in (base, record)]
    if any(low is None or high is None or low <= 0 for low, _, high in bounds):
        return None
    (base_low, base_s, base_high), (low, time_s, high) = bounds
    assert base_low is not None
    assert base_high is not None
    assert low is not None
    assert high is not None
    below = ((base_s / base_low - 1) ** 2 + (high / time_s - 1) ** 2) ** 0.5
    above = ((base_high / base_s - 1) ** 2 + (time_s / low - 1) ** 2) ** 0.5
    return 1 / (1 + below), 1 + above


def _why(base: AppRecord, record: AppRecord, launches: Sequence[LaunchLine]) -> str:
    """By what an unknown takes, and the caches: the vectors of a rank shrink with the ranks."""
    if unusable(base) or unusable(record):
        return "not explained"
    before_s, after_s = cell_s_of(base), cell_s_of(record)
    if after_s >= before_s / SUPER:
        return "though an unknown takes as long: not explained"
    words = f"because an unknown takes {before_s / after_s:.2g} times less"
    vectors = VECTORS[str(record.parameters["variant"])]
    sizes = [8.0 * vectors * size_of(one).product / one.ranks for one in (base, record)]
    busy = -(-record.ranks // (record.nodes or 1))
    fitting = [
        cache for cache in caches_of(launches) if sizes[1] <= cache.share_B(busy) and sizes[0] > cache.share_B(1)
    ]
    if not fitting:
        before, after = map(format_bytes_rounded, sizes)
        return f"{words} with {after} of vectors a rank instead of {before}"
    cache = max(fitting, key=lambda one: one.size_B)
    return (
        f"{words}: a rank's {format_bytes_rounded(sizes[1])} of vectors fit its share of the L{cache.level} cache"
    )


def _grids(records: Sequence[AppRecord]) -> list[Finding]:
    """Which grid, of the size and formulation with the most ranks of which there are several."""
    groups: dict[str, list[AppRecord]] = {}
    for record in records:
        groups.setdefault(name_of(record), []).append(record)
    name = max(groups, key=lambda name: most_ranks_with_grids(groups[name]), default="")
    return which_grid(f"Conjugate gradients, {name}", groups[name], ANCHOR, 0.45) if name else []


def _written(records: Sequence[AppRecord]) -> list[Finding]:
    for record in records:
        answer = record.answer.read_as(CgAnswer)
        if answer.file_B and answer.file_write_s:
            text = (
                f"Writing the solution, {format_bytes_rounded(answer.file_B)} from {record.ranks} ranks, "
                f"took {format_time(answer.file_write_s)}, {format_rate(answer.file_B / answer.file_write_s)} "
                "(once, no interval)."
            )
            return [Finding(text, ANCHOR, 0.25)]
    return []

"""A trial of rules: launches with them and without them in turn, of what is to be timed, and by which files.

Variants of one campaign are launched one after the other, over and over: `default`, `tuned` with the rules, and
`best` with the fastest algorithm of each cell by the times that the rules were made from. A second campaign, of
the probe, has `default` and a rule for each operation that changes its time as much as any that was measured.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from hockney.campaign.plan import Plan
from hockney.errors import RequestError
from hockney.models.over_ranks.choice import Time
from hockney.runner.variants import DEFAULT, Variant, parse_variant
from hockney.tune.cells import CallTimes
from hockney.tune.choose import span
from hockney.tune.loading import expect_unset, loader
from hockney.tune.rules import Method, Rule, chained, joined
from hockney.tune.targets.base import Reader, RuleForm

TUNED, BEST, PROBE = "tuned", "best", "probe"
LEAST_LAUNCHES = 4
"""Of each variant: fewer do not tell how launches differ."""
LEAST_CHANGE = 1.2
"""A factor of times that a probe must surely show: launches of one kind differ by a tenth and more."""
ENOUGH_CHANGE = 3.0
"""More than this factor proves no more, and takes longer."""
LONG_S = 0.2
"""A call that takes longer is a probe only where no shorter one is as good."""


@dataclass(frozen=True)
class Trial:
    """What is launched; `texts` are the files that the variants load, by their paths."""

    plan: Plan
    texts: Mapping[Path, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Probe:
    """A rule for one cell by which its operation takes `expected` times as long as by default.

    `low` and `high` are the ends of its 95 % interval.
    """

    cell: CallTimes
    algorithm: Method
    rule: Rule
    expected: float
    low: float
    high: float

    @property
    def least_change(self) -> float:
        """The factor by which the time changes at least, by that interval; above 1 for longer and for shorter."""
        return self.low if self.expected > 1 else 1 / self.high


def trial(
    plan: Plan,
    base: Variant,
    cells: Sequence[CallTimes],
    variations: Mapping[str, Sequence[Rule]],
    target: RuleForm,
    library: Reader,
    folder: Path,
    launches: int,
) -> Trial:
    """The trial of these cells under `default` and by the rules of each variation, launched as `plan` and `base`.

    RequestError where the user's own settings choose algorithms.
    """
    load = loader(target, plan, base)
    taken = {name for cell in cells for name in target.rivals(cell.operation)}
    variants, texts = [replace(base, name=DEFAULT)], {}
    for name, varied in variations.items():
        path = (folder / "rules" / name).absolute()
        rules = [target.complete(rule) for rule in varied]
        texts[path] = target.write(rules, library, f"{name}: a trial by hockney tune --verify")
        added = load(path, texts[path], rules)
        taken |= set(added.environment)
        environment = {**base.environment, **added.environment}
        variants.append(Variant(name, (*base.arguments, *added.arguments), environment))
    expect_unset(taken, base)
    ranks = sorted({cell.ranks for cell in cells})
    asked = plan.of_others(
        operations=list(dict.fromkeys(cell.operation for cell in cells)),
        algorithms=[DEFAULT],
        ranks=max(plan.ranks, *ranks),
        rank_counts=ranks,
        sizes_B=sorted({cell.bytes for cell in cells}),
        segments_B=[0],
        radices=[0],
        launches=max(launches, LEAST_LAUNCHES),
        visits=1,
        variants=list(map(_written, variants)),
    )
    return Trial(asked, texts)


def _written(variant: Variant) -> str:
    """The words of --variant for it."""
    words = [f"{name}={value}" for name, value in variant.environment.items()]
    return f"{variant.name}: {shlex.join([*words, *variant.arguments])}"


def base_variant(plan: Plan, name: str) -> Variant:
    """The variant under which the times were taken, as the plan launched it."""
    variants = [parse_variant(text) for text in plan.variants] or [Variant(DEFAULT)]
    for variant in variants:
        if variant.name == name or len(variants) == 1:
            return variant
    raise RequestError(
        f"the campaign has no variant {name!r}", f"choose one: --where variant='{variants[0].name}'"
    )


def best_rules(cells: Sequence[CallTimes], target: RuleForm, library: Reader) -> list[Rule]:
    """The fastest algorithm of each cell, whatever its interval; nothing where the default is the fastest."""
    rules = []
    for cell in cells:
        algorithm = cell.by_medians().fastest()
        if algorithm is not None:
            rule = Rule(cell.operation, cell.ranks, cell.ranks, *span(cell, cells), **algorithm._asdict())
            if not target.refuses(rule, library):
                rules.append(target.complete(rule))
    return joined(chained(rules, "least_bytes", "most_bytes"))


def probes(
    cells: Sequence[CallTimes], rules: Sequence[Rule], target: RuleForm, library: Reader
) -> dict[str, Probe]:
    """For each operation with a rule the probe that should tell most; none where nothing differs enough."""
    found = {}
    ruled = {rule.operation for rule in rules}
    for operation, group in groupby(sorted(cells, key=lambda cell: cell.operation), lambda cell: cell.operation):
        if operation not in ruled:
            continue
        offered = [
            probe
            for cell in group
            for algorithm, time in cell.others.items()
            if (probe := _probe(cell, algorithm, time, cells, target, library)) is not None
        ]
        if offered:
            found[operation] = min(offered, key=_rank)
    return found


def _rank(probe: Probe) -> tuple[float, bool, float, str]:
    """Surely large changes first; of those, what takes little time and is well known."""
    return (
        -min(probe.least_change, ENOUGH_CHANGE),
        probe.cell.default.time_s * probe.expected > LONG_S,
        probe.high / probe.low,
        str(probe.algorithm),
    )


def _probe(
    cell: CallTimes,
    algorithm: Method,
    time: Time,
    cells: Sequence[CallTimes],
    target: RuleForm,
    library: Reader,
) -> Probe | None:
    """The probe of that algorithm; None where it does not change the time enough, or cannot be said."""
    rule = Rule(cell.operation, cell.ranks, cell.ranks, *span(cell, cells), **algorithm._asdict())
    if target.whole:
        rule = Rule(cell.operation, 1, None, 0, None, *algorithm)
    probe = Probe(cell, algorithm, rule, *cell.default.ratio(time))
    return None if probe.least_change < LEAST_CHANGE or target.refuses(rule, library) else probe


def without(
    rules: Sequence[Rule], gone: Sequence[CallTimes], cells: Sequence[CallTimes], *, whole: bool
) -> list[Rule]:
    """The rules without what they say of the cells that are `gone` and their neighbourhoods.

    Rules of `whole` targets know no bounds: those of the operation go.
    """
    left = list(rules)
    for cell in gone:
        if whole:
            left = [rule for rule in left if rule.operation != cell.operation]
        else:
            left = [part for rule in left for part in _cut(rule, cell, cells)]
    return joined(left)


def _cut(rule: Rule, cell: CallTimes, cells: Sequence[CallTimes]) -> list[Rule]:
    """What is left of a rule without the cell: other ranks, and smaller and larger messages."""
    if not rule.fits(cell.operation, cell.ranks, cell.bytes):
        return [rule]
    sizes = {one.bytes for one in cells if (one.operation, one.ranks) == (cell.operation, cell.ranks)}
    least_B, most_B = span(cell, cells)
    # Beyond the outermost cells nothing was tried.
    smaller_B = least_B if min(sizes) < cell.bytes else 0
    larger_B = most_B if max(sizes) > cell.bytes else None
    here = replace(rule, least_ranks=cell.ranks, most_ranks=cell.ranks)
    parts = []
    if rule.least_ranks < cell.ranks:
        parts.append(replace(rule, most_ranks=cell.ranks - 1))
    if rule.least_bytes < smaller_B:
        parts.append(replace(here, most_bytes=smaller_B - 1))
    if larger_B is not None and (rule.most_bytes is None or rule.most_bytes > larger_B):
        parts.append(replace(here, least_bytes=larger_B + 1))
    if rule.most_ranks is None or rule.most_ranks > cell.ranks:
        parts.append(replace(rule, least_ranks=cell.ranks + 1))
    return parts

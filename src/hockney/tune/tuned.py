"""A tuning from its source to its file: rules for one target, how each cell came off, and what to say of it."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from hockney import __version__
from hockney.errors import RequestError
from hockney.records.verification import Verification
from hockney.tune.cells import CallTimes
from hockney.tune.choose import ChosenRules, Decision, choose, choose_whole
from hockney.tune.rules import Method, Rule, find, in_order, joined
from hockney.tune.targets.base import Reader, RuleForm
from hockney.units import format_bytes, format_time

MOST_EXPLAINED = 10
WIDTH = 110
"""Of a comment in a file."""


@dataclass(frozen=True)
class TargetRules:
    """Rules for a target and a library; `refused` are those that it cannot express, with the reason."""

    target: RuleForm
    library: Reader
    rules: list[Rule]
    choice: ChosenRules
    origin: str
    refused: list[str] = field(default_factory=list)
    is_tried: bool = False
    """Whether a library has loaded the file, and its effect was seen."""
    verified: str = ""
    """When and with what gains, where launches with the rules were timed."""
    left_out: int = 0
    """Points that no launch met at the level of the machine that is compared."""
    launches: int | None = None
    """Those that the times are of; None: of no launch."""

    @property
    def text(self) -> str:
        """The file."""
        return self.target.write(self.rules, self.library, self.comment)

    @property
    def tried(self) -> str:
        """Whether a library took these rules, and if none has, how to see it; or that there are none."""
        if not self.rules:
            went_back = "; the rules that were tried on it went back to its default" if self.verified else ""
            return f"without a rule, it leaves every choice to the library{went_back}"
        if self.is_tried:
            return "tried on that library"
        if self.verified:
            return "tried on that library, without a proof that they take effect"
        return f"not tried yet, see {self.target.proof}" if self.target.proof else "not tried on a library"

    @property
    def intervals(self) -> str:
        """What the intervals of measured times are, in words; empty where nothing was measured."""
        if self.launches is None:
            return ""
        if self.launches == 1:
            return "measured intervals are those within one launch; launches may differ by more (--verify tells)"
        return f"measured intervals reach from the least to the most of {self.launches} launches"

    @property
    def comment(self) -> str:
        """What stands at the top of a file whose form has comments."""
        return (
            f"{self.target.title}, by hockney {__version__} for {self.library.name or 'any MPI'}: {self.tried}\n"
            f"from {self.origin}"
            + (f"\n{self.intervals}" if self.intervals else "")
            + (f"\n{self.verified}" if self.verified else "")
            + ("\n" + textwrap.fill(f"note: {self.target.caution}", WIDTH) if self.target.caution else "")
        )

    def checked(self) -> str:
        """The text of the file, after it was read back; an error where it does not say what was chosen."""
        text = self.text
        if (back := self.target.read(text, self.library)) != in_order(self.rules):
            raise AssertionError(f"{self.target.title} were not read back as they were written: {back}")
        for one in self.choice.decisions:
            found = find(back, *one.cell.place)
            # Launches may have sent a cell back to the default.
            if found != find(self.rules, *one.cell.place) or found not in (None, self._completed(one)):
                raise AssertionError(f"{self.target.title} say {found} of {one.cell.place}, not {one.algorithm}")
        return text

    def _completed(self, decision: Decision) -> Method | None:
        """The algorithm of a cell as the file says it."""
        if decision.algorithm is None:
            return None
        operation, ranks, size_B = decision.cell.place
        return self.target.complete(Rule(operation, ranks, ranks, size_B, size_B, decision.algorithm)).algorithm


def tuned(
    target: RuleForm,
    library: Reader,
    cells: Sequence[CallTimes],
    source: Path,
    *,
    to_be_verified: bool = False,
) -> TargetRules:
    """Choose for these cells of a source; RequestError where there are none, with what is missing.

    Rules `to_be_verified` may be for a gain that is within its interval: launches will tell.
    """
    if not cells:
        raise RequestError(
            f"no point has a time of the default and of an algorithm that {target.title} can name "
            f"({library.name or 'no library is named'})",
            "measure both: `hockney measure --algorithm default,library …` (ours for --for hockney)",
        )
    modelled = sum(cell.origin == "model" for cell in cells)
    counts = {"cells measured": len(cells) - modelled, "by the model": modelled}
    origin = f"{source} ({', '.join(f'{count} {what}' for what, count in counts.items() if count)})"
    if target.whole:
        chosen = choose_whole(cells)
    elif to_be_verified:
        chosen = choose([cell.by_medians() for cell in cells])
        of = {cell.place: cell for cell in cells}
        chosen = replace(chosen, decisions=[replace(one, cell=of[one.cell.place]) for one in chosen.decisions])
    else:
        chosen = choose(cells)
    refused = {rule: why for rule in chosen.rules if (why := target.refuses(rule, library))}
    kept = ChosenRules(
        [rule for rule in chosen.rules if rule not in refused],
        [replace(one, algorithm=None, best=None) if _fitting(refused, one) else one for one in chosen.decisions],
    )
    rules = joined([target.complete(rule) for rule in kept.rules])
    told = [f"{rule}: {why}" for rule, why in refused.items()]
    return TargetRules(target, library, [_with_gain(rule, kept) for rule in rules], kept, origin, told)


def _fitting(rules: Iterable[Rule], decision: Decision) -> Rule | None:
    """The rule by which a cell was decided; None where the default stays."""
    cell = decision.cell
    fitting = (rule for rule in rules if rule.fits(cell.operation, cell.ranks, cell.bytes))
    return next(fitting, None) if decision.algorithm is not None else None


def _with_gain(rule: Rule, choice: ChosenRules) -> Rule:
    """The rule with what it gains in its cells: by the model where a cell of it is by the model."""
    of_it = [one for one in choice.decisions if _fitting([rule], one)]
    if not of_it:
        return rule
    gain = math.exp(sum(math.log(one.gain[0]) for one in of_it) / len(of_it))
    is_measured = all(one.cell.origin == "measured" for one in of_it)
    return replace(rule, gain=gain, basis="measurement" if is_measured else "model")


def explained(choice: ChosenRules) -> list[str]:
    """The rules that gain most, in words, the largest gain first."""
    of_rule: dict[Rule, list[Decision]] = {}
    for decision in choice.decisions:
        if rule := _fitting(choice.rules, decision):
            of_rule.setdefault(rule, []).append(decision)
    best = {rule: max(of_it, key=lambda one: one.gain[0]) for rule, of_it in of_rule.items()}
    ordered = sorted(best, key=lambda rule: -best[rule].gain[0])
    return [_in_words(rule, best[rule], len(of_rule[rule])) for rule in ordered[:MOST_EXPLAINED]]


def _in_words(rule: Rule, decision: Decision, cells: int) -> str:
    cell, (gain, low, high) = decision.cell, decision.gain
    how = "measured" if cell.origin == "measured" else "by the model"
    times = f"{format_time(cell.default.time_s)} by default, {format_time(decision.time.time_s)} so"
    text = f"{rule}. At {format_bytes(cell.bytes)} on {cell.ranks} ranks {times}: {gain:.2f} times as fast "
    text += f"({low:.2f} to {high:.2f}), {how}"
    return text if cells == 1 else f"{text}; the largest gain of {cells} cells"


@dataclass(frozen=True)
class TunedRule:
    """A rule as JSON; bytes are those of the tidy table, None is no bound."""

    operation: str
    least_ranks: int
    most_ranks: int | None
    least_bytes: int
    most_bytes: int | None
    algorithm: str
    segment_bytes: int
    radix: int

    @classmethod
    def of(cls, rule: Rule) -> TunedRule:
        """The same rule."""
        bounds = (rule.least_ranks, rule.most_ranks, rule.least_B, rule.most_B)
        return cls(rule.operation, *bounds, rule.algorithm.name, rule.algorithm.segment_B, rule.algorithm.radix)


@dataclass(frozen=True)
class TunedCell:
    """What is taken for one number of ranks and size (None: the default), with its gain and the 95 % interval."""

    operation: str
    ranks: int
    bytes: int
    origin: str
    algorithm: str | None
    default_s: float
    time_s: float
    gain: float
    gain_low: float
    gain_high: float
    regret: float

    @classmethod
    def of(cls, decision: Decision) -> TunedCell:
        """What was decided."""
        cell, algorithm = decision.cell, None if decision.algorithm is None else str(decision.algorithm)
        times = (cell.default.time_s, decision.time.time_s, *decision.gain, decision.regret)
        return cls(*cell.place, cell.origin, algorithm, *times)


@dataclass(frozen=True)
class Merging:
    """What rules for several cells cost: the share by which these take longer, in the mean and at most."""

    mean: float
    most: float


@dataclass(frozen=True)
class TuneAnswer:
    """The rules that were written to `file`; `verification` is None where no launch tried them."""

    file: str
    target: str
    library: str
    tried: bool
    proof: str
    rules: list[TunedRule]
    refused: list[str]
    cells: list[TunedCell]
    launches: int | None
    intervals: str
    points_of_another_level: int
    merging_costs: Merging
    settings: Mapping[str, str]
    caution: str
    verification: Verification | None


def answer(done: TargetRules, path: Path, verification: Verification | None) -> TuneAnswer:
    """What `hockney tune` answers of the rules in this file."""
    return TuneAnswer(
        file=str(path),
        target=done.target.title,
        library=done.library.name,
        tried=done.is_tried,
        proof=done.target.proof,
        rules=list(map(TunedRule.of, done.rules)),
        refused=done.refused,
        cells=list(map(TunedCell.of, done.choice.decisions)),
        launches=done.launches,
        intervals=done.intervals,
        points_of_another_level=done.left_out,
        merging_costs=Merging(*done.choice.regrets),
        settings=done.target.settings(path, done.rules),
        caution=done.target.caution,
        verification=verification,
    )

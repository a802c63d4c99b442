"""A tuning from its source to its file: rules for one target, how each cell came off, and what to say of it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from hockney import __version__
from hockney.errors import RequestError
from hockney.records.verification import Verification
from hockney.tune.cells import ASSUMED, CallTimes
from hockney.tune.choose import ChosenRules, Decision, choose, choose_whole
from hockney.tune.rules import Method, Rule, find, in_order, joined
from hockney.tune.targets.base import Reader, RuleForm
from hockney.units import counted

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
        bare = sum(decision.cell.default.is_assumed for decision in self.choice.decisions)
        of_cells = f"{bare} of {counted(len(self.choice.decisions), 'cell')}"
        assumed = f"no interval was measured at {of_cells}: there each time is {ASSUMED}" if bare else ""
        if bare == len(self.choice.decisions):
            return assumed
        measured = "measured intervals are those within one launch; launches may differ by more (--verify shows)"
        if self.launches > 1:
            measured = f"measured intervals reach from the least to the most of {self.launches} launches"
        return f"{measured}; {assumed}" if assumed else measured

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
        for decision in self.choice.decisions:
            found = find(back, *decision.cell.place)
            # Launches may have sent a cell back to the default.
            if found != find(self.rules, *decision.cell.place) or found not in (None, self._completed(decision)):
                raise AssertionError(
                    f"{self.target.title} say {found} of {decision.cell.place}, not {decision.algorithm}"
                )
        return text

    def _completed(self, decision: Decision) -> Method | None:
        """The algorithm of a cell as the file says it."""
        if decision.algorithm is None:
            return None
        operation, ranks, size_B = decision.cell.place
        return self.target.complete(Rule(operation, ranks, ranks, size_B, size_B, *decision.algorithm)).method


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
        chosen = replace(chosen, decisions=[replace(each, cell=of[each.cell.place]) for each in chosen.decisions])
    else:
        chosen = choose(cells)
    refused = {rule: why for rule in chosen.rules if (why := target.refuses(rule, library))}
    kept = ChosenRules(
        [rule for rule in chosen.rules if rule not in refused],
        [replace(each, algorithm=None) if _fitting(refused, each) else each for each in chosen.decisions],
    )
    rules = joined([target.complete(rule) for rule in kept.rules])
    reasons = [f"{rule}: {why}" for rule, why in refused.items()]
    return TargetRules(target, library, [_with_gain(rule, kept) for rule in rules], kept, origin, reasons)


def _fitting(rules: Iterable[Rule], decision: Decision) -> Rule | None:
    """The rule by which a cell was decided; None where the default stays."""
    cell = decision.cell
    fitting = (rule for rule in rules if rule.fits(cell.operation, cell.ranks, cell.bytes))
    return next(fitting, None) if decision.algorithm is not None else None


def _with_gain(rule: Rule, choice: ChosenRules) -> Rule:
    """The rule with what it gains in its cells: by the model where a cell of it is by the model."""
    of_it = [decision for decision in choice.decisions if _fitting([rule], decision)]
    if not of_it:
        return rule
    is_measured = all(decision.cell.origin == "measured" for decision in of_it)
    return replace(rule, gain=_mean_gain(of_it)[0], basis="measurement" if is_measured else "model")


def _mean_gain(of_rule: Sequence[Decision]) -> tuple[float, float, float]:
    """The geometric mean of the gains of its cells, and of the ends of their intervals."""
    mean = np.exp(np.mean(np.log([decision.gain for decision in of_rule]), axis=0))
    return float(mean[0]), float(mean[1]), float(mean[2])


@dataclass(frozen=True)
class TunedRule(Rule):
    """A rule with its gain, how many times as long the default takes in the mean of `cells`, and its interval.

    Bytes are those of the tidy table, None is no bound. The gain is None where no cell was timed.
    """

    cells: int = 0
    gain_low: float | None = None
    gain_high: float | None = None
    interval_by: str = ""

    @classmethod
    def of(cls, rule: Rule, choice: ChosenRules) -> TunedRule:
        """The same rule, and what it gains."""
        own = cls(**vars(_with_gain(replace(rule, gain=None, basis=None), choice)))
        of_it = [decision for decision in choice.decisions if _fitting([rule], decision)]
        if not of_it:
            return own
        _, low, high = _mean_gain(of_it)
        by = ", ".join(dict.fromkeys(ASSUMED if each.is_assumed else each.cell.origin for each in of_it))
        return replace(own, cells=len(of_it), gain_low=low, gain_high=high, interval_by=by)


@dataclass(frozen=True)
class TunedCell:
    """What is taken for one number of ranks and size (None: the default), with its gain and the 95 % interval.

    `interval_by`: what that rests on: `measured`, `model`, or `assumed ±10 %` where no interval was measured.
    `candidate`: the algorithm of the shortest time, and what it would have gained, with the interval.
    """

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
    interval_by: str
    candidate: str
    candidate_gain: float
    candidate_low: float
    candidate_high: float

    @classmethod
    def of(cls, decision: Decision) -> TunedCell:
        """What was decided."""
        cell, algorithm = decision.cell, None if decision.algorithm is None else str(decision.algorithm)
        times = (cell.default.time_s, decision.time.time_s, *decision.gain)
        interval_by = ASSUMED if decision.is_assumed else cell.origin
        would = cell.others[cell.candidate].ratio(cell.default)
        return cls(*cell.place, cell.origin, algorithm, *times, interval_by, str(cell.candidate), *would)


@dataclass(frozen=True)
class TuneAnswer:
    """The rules that were written to `file`; `verification` is None where no launch tried them."""

    file: str
    target: str
    library: str
    tried: bool
    state: str
    proof: str
    rules: list[TunedRule]
    refused: list[str]
    cells: list[TunedCell]
    launches: int | None
    intervals: str
    points_of_another_level: int
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
        state=done.tried,
        proof=done.target.proof,
        rules=[TunedRule.of(rule, done.choice) for rule in done.rules],
        refused=done.refused,
        cells=list(map(TunedCell.of, done.choice.decisions)),
        launches=done.launches,
        intervals=done.intervals,
        points_of_another_level=done.left_out,
        settings=done.target.settings(path, done.rules),
        caution=done.target.caution,
        verification=verification,
    )

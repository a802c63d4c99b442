"""From a study's file and what was asked for to its steps: commands with checked options, and their estimates."""

from __future__ import annotations

import itertools
import math
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from hockney.batch.base import JobAllocation
from hockney.campaign.estimate import Estimate, estimate, first_pass_s, launch_s
from hockney.campaign.options import MeasureOptions
from hockney.campaign.plan import Launching, Plan
from hockney.campaign.prepare import expect_room
from hockney.errors import EnvironmentLack, RequestError
from hockney.fields import Argument, named, options
from hockney.records.keys import COLLECTIVES, POINT_TO_POINT
from hockney.report.application import apps
from hockney.runner.launchers.base import MapBy
from hockney.runner.transports import ALL
from hockney.studies.asked import StudyRequest
from hockney.studies.crowding import Crowding, narrower
from hockney.studies.files import MEASURE, RUN, StepFile, Study, Value
from hockney.terminal.options import from_table, is_repeated, words_of

RUN_SHARE = 1 / 3
"""A run of an application waits for about so many times the calls of the shortest measurement of a broadcast."""
SPARE = 1.2
"""Of the time for one visit of each point: a library may have more algorithms than were counted."""
FIT_S, DRAW_S, JUDGE_S, PAGE_S = 0.3, 0.7, 2.0, 2.0
"""What a page takes: for each operation that is fitted, drawn, or predicted from others, and the rest."""

OF_STUDY = ("output", "resume", "trust", "dry-run")
"""Options that a step does not have: where its campaign is, and whether to go on with it, is the study's."""

_BRACED = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class StudyStep:
    """One command of a study at one placement. `name` is its folder's; `options` are as they would be written."""

    name: str
    verb: str
    why: str
    placement: MapBy
    options: Mapping[str, Value | list[Value]]
    models: Mapping[str, BaseModel]
    a_run_s: float
    nodes: int | None = None
    crowding: Crowding | None = None

    @property
    def estimate_s(self) -> float:
        """What it takes, in seconds, without the page."""
        if self.estimate is not None:
            return self.estimate.estimate_s
        waited_s = self.crowding.least_s(self.crowding.ranks) if self.crowding else 0.0
        return launch_s(self.crowding) + runs(self) * max(self.a_run_s, RUN_SHARE * waited_s)

    @property
    def estimate(self) -> Estimate | None:
        """What a campaign takes; None for applications."""
        return None if self.plan is None else estimate(self.plan, self.crowding)

    @property
    def command(self) -> str:
        """The same as a command line, without its output."""
        words = ["hockney", *self.verb.split()]
        for word, value in self.options.items():
            option = words_of(function_of(self.verb))[word][-1]
            for one in value if isinstance(value, list) else [value]:
                if isinstance(option, Argument):
                    words.append(str(one))
                elif isinstance(one, bool):
                    words.append(f"--{word}" if one else f"--no-{word}")
                else:
                    words += [f"--{word}", str(one)]
        return shlex.join(words)

    @property
    def plan(self) -> Plan | None:
        """The plan of `measure`; None for applications."""
        return next((model for model in self.models.values() if isinstance(model, Plan)), None)

    @property
    def ranks(self) -> int:
        """The ranks that it launches."""
        return max(model.ranks for model in self.models.values() if isinstance(model, Launching))

    def operations(self) -> list[str]:
        """What it measures, by the names of operations and applications."""
        plan = self.plan
        if plan is None:
            return [self.verb.removeprefix(RUN)]
        return [*plan.operations, *plan.effects] or list(POINT_TO_POINT)


def fits(step: StudyStep, given: JobAllocation | None) -> bool:
    """Whether a job has room for the ranks of a step; outside of jobs, every step is tried."""
    for model in step.models.values():
        if given is not None and isinstance(model, Launching):
            try:
                expect_room(model, given)
            except EnvironmentLack:
                return False
    return True


def steps(study: Study, asked: StudyRequest, folder: Path) -> list[StudyStep]:
    """The commands of a study, in the order of its file, at each placement.

    RequestError for options that no command takes, or that their models refuse: which, and in which step.
    """
    made: list[StudyStep] = []
    for number, of_file in enumerate(study.file.steps, 1):
        given: dict[str, Value | list[Value]] = {}
        for table in (of_file.options, of_file.quick if asked.quick else {}):
            given |= table
        for placement in asked.placements:
            for nodes, ranks in asked.on():
                with named(f"{study.name}, step {number}"):
                    made += _at(of_file, number, given, placement, (nodes, ranks), asked, folder)
    return made


def _at(
    of_file: StepFile,
    number: int,
    given: Mapping[str, Value | list[Value]],
    placement: MapBy,
    on: tuple[int | None, int],
    asked: StudyRequest,
    folder: Path,
) -> Iterator[StudyStep]:
    """The commands of one step of a file, with the options `given`, at one placement, on (nodes, ranks)."""
    nodes, ranks = on
    for word in OF_STUDY:
        if word in given:
            raise RequestError(f"a step cannot set {word}: that is the study's", "leave it out")
    for nth, table in enumerate(_each(of_file.verb, given), 1):
        words = {key: _filled(value, ranks, placement) for key, value in table.items()}
        more = [*([f"{nodes}n"] if nodes else []), *([str(nth)] if nth > 1 else [])]
        name = "-".join([str(number), of_file.verb.split()[-1], placement, *more])
        known = {**asked.launching, "ranks": ranks, "nodes": nodes, "map_by": placement, "output": folder / name}
        models = from_table(function_of(of_file.verb), words, of_file.verb, known, Launching)
        crowding = asked.crowding.at(placement) if asked.crowding else None
        for less in _less(models, crowding):
            words |= less
            models = from_table(function_of(of_file.verb), words, of_file.verb, known, Launching)
        if any(ALL in model.variants for model in models.values() if isinstance(model, Launching)):
            raise RequestError(
                f"a study takes no {ALL}",
                "name those that `hockney doctor --transports` starts, each by --variant",
            )
        a_run_s = (of_file.a_quick_run_s if asked.quick else None) or of_file.a_run_s
        yield StudyStep(name, of_file.verb, of_file.why, placement, words, models, a_run_s, nodes, crowding)


def _less(models: Mapping[str, BaseModel], crowding: Crowding | None) -> list[dict[str, str]]:
    """Options with which the collectives of a `measure` among ranks that share cores fit into its time.

    Where the fewest points do not, its time is longer.
    """
    plan = next((model for model in models.values() if isinstance(model, Plan)), None)
    if crowding is None or plan is None or plan.time_s is None or not plan.has_collectives:
        return []
    chosen: list[dict[str, str]] = []
    for less, shorter in narrower(plan):
        if first_pass_s(plan, crowding) <= plan.time_s:
            return chosen
        chosen.append(less)
        plan = shorter
    needed_s = SPARE * first_pass_s(plan, crowding)
    return [*chosen, {"time": f"{math.ceil(needed_s)}s"}] if needed_s > (plan.time_s or 0.0) else chosen


def function_of(verb: str) -> Callable[..., Any]:
    """A function that takes the options of an application's verb, or of `measure`."""
    if verb == MEASURE:
        return _measure
    return apps.get(verb.removeprefix(RUN)).run.function(lambda: None)


def _measure(options: MeasureOptions) -> MeasureOptions:
    return options


def _each(verb: str, table: Mapping[str, Value | list[Value]]) -> Iterator[dict[str, Value | list[Value]]]:
    """The table for each value of its lists, the last list fastest."""
    repeated = {
        word for word, (_, _, info, option) in words_of(function_of(verb)).items() if is_repeated(info, option)
    }
    several = {word: value for word, value in table.items() if isinstance(value, list) and word not in repeated}
    for word, value in table.items():
        if value == []:
            raise RequestError(
                f"{word} = []: a list without values makes no command", "give a value, or leave it out"
            )
    for chosen in itertools.product(*several.values()):
        yield {**table, **dict(zip(several, chosen, strict=True))}


def _filled(value: Any, ranks: int, placement: str) -> Any:
    """The value, or each of a list, with its words in braces replaced."""
    if isinstance(value, list):
        return [_filled(each, ranks, placement) for each in value]
    if not isinstance(value, str):
        return value
    powers = sorted({2**power for power in range(ranks.bit_length()) if 2**power <= ranks} | {ranks})
    known = {"ranks": str(ranks), "powers": ",".join(map(str, powers)), "placement": placement}

    def fill(found: re.Match[str]) -> str:
        if found[1] not in known:
            raise RequestError(
                f"{value!r}: unknown word {found[0]}", f"known: {', '.join(f'{{{k}}}' for k in known)}"
            )
        return known[found[1]]

    return _BRACED.sub(fill, value)


# Estimates


def runs(step: StudyStep) -> int:
    """How many runs an application's command makes: one for each of what its options list."""
    count = 1
    for model in step.models.values():
        if isinstance(model, Launching):
            count *= max(1, len(model.variants))
            continue
        for field, _, _ in options(type(model)):
            value = getattr(model, field)
            # Grids and extents are tuples, too, with names of their own.
            if type(value) in (list, tuple) and field != "map_by":
                count *= max(1, len(value))
    return count


def page_s(made: Sequence[StudyStep]) -> float:
    """What fitting and drawing what the steps measure take, in seconds."""
    series = {(op, step.placement) for step in made for op in step.operations() if op in POINT_TO_POINT}
    drawn = {operation for step in made for operation in step.operations()}
    judged = drawn & set(COLLECTIVES)
    return PAGE_S + FIT_S * len(series) + DRAW_S * len(drawn) + JUDGE_S * len(judged)

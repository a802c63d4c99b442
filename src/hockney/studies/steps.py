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

from hockney.apps.stencil.grids import factorisations
from hockney.batch.base import JobAllocation
from hockney.campaign.estimate import Estimate, estimate, first_pass_s, launch_s
from hockney.campaign.options import MeasureOptions
from hockney.campaign.plan import Launching, Plan
from hockney.campaign.prepare import expect_room
from hockney.errors import EnvironmentLack, RequestError
from hockney.fields import Argument, named, options
from hockney.records.keys import COLLECTIVES, MESSAGES, POINT_TO_POINT
from hockney.report.application import apps
from hockney.runner.inventory import inventory
from hockney.runner.launchers.base import MapBy
from hockney.runner.transports import ALL
from hockney.studies.asked import StudyRequest
from hockney.studies.crowding import Crowding, narrower
from hockney.studies.files import MEASURE, RUN, StepFile, Study, Value
from hockney.terminal.options import from_table, is_repeated, words_of
from hockney.units import parse_bytes, written

RUN_SHARE = 1 / 3
"""A run of an application waits for about so many times the calls of the shortest measurement of a broadcast."""
SPARE = 1.2
"""Of the time for one visit of each point: a library may have more algorithms than were counted."""
FIT_S, DRAW_S, JUDGE_S, PAGE_S = 0.3, 0.7, 2.0, 2.0
"""What a page takes: for each operation that is fitted, drawn, or predicted from others, and the rest."""

DOCUMENTED = (4, 8, 12, 24, 32, 40, 48)
"""Numbers of ranks of the tables that the study of Jacobi follows."""
CUBES = (1200, 800, 600, 400, 200)
MEMORY_SHARE = 0.85
"""Of a node's memory, for the cubes of its ranks."""
SWEEPS, CELL_S = 8, 3e-9
"""Sweeps of such a cube in a run, with the first and the filling, and what a cell takes where all cores sweep."""

LATE = 1.25
"""Of what steps are estimated at: so much time the jobs of a chain are to have."""

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
    library: str | None = None
    """The MPI of this step alone; None: that of the study."""

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
        words = ["hockney", *self.verb.split(), *([f"--mpi={self.library}"] if self.library else [])]
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
        return [*plan.operations, *plan.effects] or list(MESSAGES)


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
    for part in study.parts(asked.parts):
        of_part: list[StudyStep] = []
        before = f"{part.name}-" if part is not study else ""
        for number, of_file in enumerate(part.file.steps, 1):
            given = of_file.options | (of_file.quick if asked.quick else {})
            for placement, (nodes, ranks) in itertools.product(asked.placements, asked.on()):
                with named(f"{part.name}, step {number}"):
                    name = f"{before}{number}-{of_file.verb.split()[-1]}-{placement}"
                    of_part += _at(of_file, name, given, placement, (nodes, ranks), asked, folder)
        # What a part before asks for, too, is measured once.
        done = {(step.command, step.placement, step.nodes) for step in made}
        made += [step for step in of_part if (step.command, step.placement, step.nodes) not in done]
    return made


def _at(
    of_file: StepFile,
    begins: str,
    given: Mapping[str, Value | list[Value]],
    placement: MapBy,
    on: tuple[int | None, int],
    asked: StudyRequest,
    folder: Path,
) -> Iterator[StudyStep]:
    """The commands of one step of a file, with the options `given`, at one placement, on (nodes, ranks)."""
    nodes, ranks = on
    cube = _cube(asked, ranks)
    libraries = [None, *asked.libraries] if of_file.each_library else [None]
    for word in OF_STUDY:
        if word in given:
            raise RequestError(f"a step cannot set {word}: that is the study's", "leave it out")
    every = itertools.product(libraries, _each(of_file.verb, given))
    for nth, (library, table) in enumerate(every, 1):
        words = {key: _filled(value, ranks, placement, cube) for key, value in table.items()}
        more = [*([f"{nodes}n"] if nodes else []), *([str(nth)] if nth > 1 else [])]
        name = "-".join([begins, *more])
        known = {**asked.launching, "ranks": ranks, "nodes": nodes, "map_by": placement, "output": folder / name}
        if library is not None:
            known["mpi"] = library
        if asked.sizes_B and "bytes" in words:
            named_B = set(map(parse_bytes, str(words["bytes"]).split(",")))
            more_B = (size_B for size_B in asked.sizes_B if size_B not in named_B)
            words["bytes"] = ",".join([str(words["bytes"]), *map(written, more_B)])
        models = from_table(function_of(of_file.verb), words, of_file.verb, known, Launching)
        crowding = asked.crowding.at(placement) if asked.crowding else None
        for less in _less(models, crowding, asked.sizes_B):
            words |= less
            models = from_table(function_of(of_file.verb), words, of_file.verb, known, Launching)
        # Only `measure` tries them, in a campaign that asks for them itself.
        is_own = of_file.verb == MEASURE and words.get("variant") == ALL
        launched = [model for model in models.values() if isinstance(model, Launching)]
        if not is_own and any(ALL in model.variants for model in launched):
            raise RequestError(
                f"a study takes no {ALL}",
                "name those that `hockney doctor --transports` starts, each by --variant",
            )
        a_run_s = (of_file.a_quick_run_s if asked.quick else None) or of_file.a_run_s
        if "{cube}" in table.values():
            a_run_s = max(a_run_s, SWEEPS * CELL_S * cube**3)
        yield StudyStep(
            *(name, of_file.verb, of_file.why, placement, words, models, a_run_s, nodes, crowding),
            library=library,
        )


def _less(
    models: Mapping[str, BaseModel], crowding: Crowding | None, kept_B: Sequence[int]
) -> list[dict[str, str]]:
    """Options with which the collectives of a `measure` among ranks that share cores fit into its time.

    Where the fewest points do not, its time is longer.
    """
    plan = next((model for model in models.values() if isinstance(model, Plan)), None)
    if crowding is None or plan is None or plan.time_s is None or not plan.has_collectives:
        return []
    chosen: list[dict[str, str]] = []
    for less, shorter in narrower(plan, kept_B):
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


def _cube(asked: StudyRequest, ranks: int) -> int:
    """Cells along the side of each rank's cube: the documents' 1200 where two such arrays fit, else fewer."""
    nodes = max(asked.nodes, default=0) or asked.hosts
    room_B = MEMORY_SHARE * (inventory().memory_B or 0) * nodes / ranks
    return next((side for side in CUBES if 16 * side**3 <= room_B), CUBES[-1])


def _filled(value: Any, ranks: int, placement: str, cube: int) -> Any:
    """The value, or each of a list, with its words in braces replaced."""
    if isinstance(value, list):
        return [_filled(each, ranks, placement, cube) for each in value]
    if not isinstance(value, str):
        return value
    powers = sorted({2**power for power in range(ranks.bit_length()) if 2**power <= ranks} | {ranks})
    documented = sorted({count for count in DOCUMENTED if count <= ranks} | {1, ranks})
    known = {
        "ranks": str(ranks),
        "powers": ",".join(map(str, powers)),
        "documented": ",".join(map(str, documented)),
        "placement": placement,
        "cube": str(cube),
    }

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
                if list(value) in (["all"], ["shapes"]):
                    grids = [
                        tuple(sorted(grid)) for grid in factorisations(getattr(model, "ranks", 0) or step.ranks)
                    ]
                    value = grids if value[0] == "all" else [*set(grids)]
                count *= max(1, len(value))
    return count


def jobs_for(made: Sequence[StudyStep], walltime_s: float) -> int:
    """How many jobs of so many seconds, one after another, the steps need."""
    work_s = JobAllocation(system="", job="", left_s=walltime_s).work_s or walltime_s
    return max(1, math.ceil(LATE * sum(step.estimate_s for step in made) / work_s))


def page_s(made: Sequence[StudyStep]) -> float:
    """What fitting and drawing what the steps measure take, in seconds."""
    series = {(op, step.placement) for step in made for op in step.operations() if op in POINT_TO_POINT}
    drawn = {operation for step in made for operation in step.operations()}
    judged = drawn & set(COLLECTIVES)
    return PAGE_S + FIT_S * len(series) + DRAW_S * len(drawn) + JUDGE_S * len(judged)

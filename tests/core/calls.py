"""Random calls of every public function of `hockney._core`, most of them as they should be, others hostile.

    python -m tests.core.calls [--core FILE] [--seed N] [--accepted N]

A call is accepted or refused with a TypeError, ValueError, IndexError, OverflowError or TooLarge that says why;
whatever else comes of it, a crash above all, ends the program with another exit code than 0. Calls go on until so
many of `simulate` and so many that make or read schedules were accepted, and are counted at the end. FILE is
another build of the extension, one with sanitizers for instance.

One file, because it runs as a program beside any build, and each call takes what others have answered: schedules,
graphs and costs go from one to the next.
"""

from __future__ import annotations

import argparse
import gc
import importlib.machinery
import importlib.util
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, cast

import numpy as np
from tests import hostile

from hockney.errors import RequestError

MOST_B = 2**26
"""Memory of a simulation: what asks for more is refused before it takes it."""
TERMS = 12
HANDSHAKE = 5
SIMULATE = ("simulate",)
SCHEDULE = (
    "generate",
    "generate_rank",
    "count_steps",
    "write_schedule",
    "verify",
    "count",
    "moves",
    "timeline",
    "beaten_bounds",
    "Schedule",
)
COLUMNS = ("rank", "stage", "kind", "peer", "length_B")


def load(path: Path | None) -> Any:
    """The extension, from that file where one is given."""
    if path is not None:
        # Nothing that has loaded the other build may be imported here.
        loader = importlib.machinery.ExtensionFileLoader("hockney._core", str(path))
        module = importlib.util.module_from_spec(
            importlib.machinery.ModuleSpec("hockney._core", loader, origin=str(path))
        )
        loader.exec_module(module)
        sys.modules["hockney._core"] = module
        return module
    from hockney import _core

    return _core


@dataclass
class Calls:
    """Random calls of the extension `core`, counted by function."""

    core: Any
    dice: Random
    accepted: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.algorithms = self.core.algorithms()
        self.collectives = {collective.name: collective for collective in self.core.collectives()}

    def call(self, name: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """The answer; None where the call is refused."""
        faults = (self.core.TooLarge, self.core.GoalFault, self.core.TraceFault, RequestError)
        refusals = (TypeError, ValueError, IndexError, OverflowError, *faults)
        try:
            answer = function(*arguments, **named)
        except refusals as error:
            if not str(error):
                raise RuntimeError(f"{name} refuses without a word") from error
            self.refused[name] += 1
            return None
        self.accepted[name] += 1
        return answer

    def maybe(self, chance: float) -> bool:
        return self.dice.random() < chance

    def spoiled(self, values: Sequence[Any], chance: float = 0.1) -> list[Any]:
        """The values; now and then one of them is hostile, or missing, or there twice."""
        spoiled = list(values)
        if spoiled and self.maybe(chance):
            place = self.dice.randrange(len(spoiled))
            match self.dice.randrange(3):
                case 0:
                    spoiled[place] = hostile.scalar(self.dice)
                case 1:
                    del spoiled[place]
                case _:
                    spoiled.insert(place, spoiled[place])
        return spoiled

    # Schedules.

    def problem(self, algorithm: Any, ranks: int) -> dict[str, Any]:
        """Arguments of a problem that the algorithm may well accept."""
        dice, collective = self.dice, self.collectives[algorithm.collective]
        element_B = dice.choice([1, 4, 8])
        return {
            "ranks": ranks,
            "root": dice.randrange(ranks) if collective.rooted else 0,
            "bytes": element_B * dice.choice([0, 1, 2, ranks, 3 * ranks + 1, 100]) if collective.has_size else 0,
            "element_B": element_B,
            "segment_B": element_B * dice.choice([0, 1, 3, 16]) if algorithm.is_segmented else 0,
            "radix": dice.choice([0, 0, 1, 2, 5]) if algorithm.default_radix else 0,
            "in_place": self.maybe(0.3),
            "commutative": self.maybe(0.8),
        }

    def spoiled_problem(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """One field hostile, or all memory that 63 bits can count. Small segments of very much are no use: they
        are only slow."""
        name = self.dice.choice(list(wanted))
        value = self.dice.choice(hostile.INTEGERS) if self.maybe(0.8) else hostile.scalar(self.dice)
        if name == "ranks" and value in (2**15 - 1, 2**15, 2**16 - 1, 2**16):
            value = 2**30 + 1
        if self.maybe(0.5):
            largest = wanted["ranks"] * 2 if self.collectives["alltoall"].sizes_are_blocks else 2
            name, value = "bytes", (2**63 - 1) // self.dice.randrange(1, 6 + largest) // wanted["element_B"]
            value *= wanted["element_B"]
        return {**wanted, "segment_B": 0, name: value}

    def phase(self, ranks: int) -> tuple[str, str, Any] | None:
        """A phase that is accepted; None where none was found."""
        for _ in range(20):
            algorithm = self.dice.choice(self.algorithms)
            problem = self.core.Problem(**self.problem(algorithm, ranks))
            if not self.core.refusal(algorithm.collective, algorithm.name, problem):
                return algorithm.collective, algorithm.name, problem
        return None

    def ranks(self) -> int:
        return self.dice.choice([1, 2, 3, 4, 5, 7, 8, 8, 12, 16])

    def schedules(self) -> None:
        """All that is asked of a schedule of some algorithm."""
        phase = self.phase(self.ranks())
        if phase is None:
            return
        collective, _, problem = phase
        schedule = self.call("generate", self.core.generate, *phase)
        rank = self.dice.choice([*range(problem.ranks), -1, problem.ranks, *hostile.INTEGERS[:4]])
        part = self.call("generate_rank", self.core.generate_rank, *phase, rank)
        if part is not None:
            steps = part.steps
            del part
            # A list and its elements outlive what they are of.
            assert [step.peer for step in steps] == [step.peer for step in schedule[rank].steps]
        self.call("count_steps", self.core.count_steps, *phase, self.dice.choice([0, 1, 10, 10**6, -1]))
        complaints = self.ask(collective, problem, schedule)
        assert complaints == [], (phase[:2], complaints)
        counts = self.core.count(schedule)
        other = self.phase(self.ranks())
        self.call("beaten_bounds", self.core.beaten_bounds, *phase, counts)
        if other is not None:
            self.call("beaten_bounds", self.core.beaten_bounds, *other, counts)

    def ask(self, collective: str, problem: Any, schedule: Any) -> Any:
        """Everything of a schedule that may be broken; the verifier's complaints."""
        self.call("count", self.core.count, schedule)
        self.call("moves", self.core.moves, schedule)
        self.call("timeline", self.core.timeline, schedule, self.costs(self.dice.choice([1, 1, 1, 2])))
        return self.call("verify", self.core.verify, collective, problem, schedule)

    def hostile_problems(self) -> None:
        algorithm = self.dice.choice(self.algorithms)
        wanted = self.spoiled_problem(self.problem(algorithm, self.ranks()))
        problem = self.call("Problem", self.core.Problem, **wanted)
        if problem is None:
            return
        phase = (algorithm.collective, algorithm.name, problem)
        self.call("refusal", self.core.refusal, *phase)
        schedule = self.call("generate", self.core.generate, *phase)
        self.call("generate_rank", self.core.generate_rank, *phase, 0)
        self.call("count_steps", self.core.count_steps, *phase, 1000)
        self.call("symmetric_classes", self.core.symmetric_classes, phase, self.maybe(0.5))
        self.simulate([phase], ranks=1, spoils=0)
        if schedule is not None and problem.ranks <= 16:
            self.ask(algorithm.collective, problem, schedule)
            self.simulate([schedule], ranks=problem.ranks, spoils=0)

    def changed(self, schedule: Any) -> list[Any]:
        """Ranks of the schedule with some step changed, left out or there twice."""
        dice, core = self.dice, self.core
        ranks = []
        spoiled = dice.randrange(len(schedule))
        for rank, mine in enumerate(schedule):
            steps = list(mine.steps)
            for _ in range(dice.choice([0, 1, 1, 3]) if rank == spoiled and steps else 0):
                place = dice.randrange(len(steps))
                step = self.call("Step", self.step, steps[place], len(schedule), place)
                steps[place] = step or steps[place]
            scratch_B = dice.choice([mine.scratch_B, mine.scratch_B, 0, *hostile.INTEGERS[-8:]])
            part = self.call("RankSchedule", core.RankSchedule, self.spoiled(steps, 0.1), scratch_B)
            ranks.append(mine if part is None else part)
        return ranks

    def step(self, step: Any, ranks: int, place: int) -> Any:
        """The step with one of its parts changed."""
        dice, core = self.dice, self.core
        small = [-1, 0, 1, 2, ranks - 1, ranks, place, place + 1]
        value = dice.choice(small) if self.maybe(0.6) else dice.choice(hostile.INTEGERS)
        parts = {"peer": step.peer, "tag": step.tag, "source": step.source, "target": step.target}
        kind, after = step.kind, step.after
        match dice.randrange(6):
            case 0:
                kind = dice.choice(list(core.Kind))
            case 1:
                parts["peer"] = value
            case 2:
                parts["tag"] = value
            case 3:
                after = [*after, value]
            case _:
                region = parts["source"] if self.maybe(0.5) else parts["target"]
                changed = [dice.choice(list(core.Memory)), region.offset_B, region.length_B]
                changed[dice.randrange(1, 3)] = value
                parts[dice.choice(["source", "target"])] = core.Region(*changed)
        return core.Step(kind, after=after, **parts)

    def broken_schedules(self) -> None:
        phase = self.phase(self.ranks())
        if phase is None:
            return
        schedule = self.call(
            "Schedule", self.core.Schedule, self.spoiled(self.changed(self.core.generate(*phase)), 0.05)
        )
        if schedule is None:
            return
        self.ask(phase[0], phase[2], schedule)
        self.simulate([schedule], ranks=len(schedule), spoils=0)
        other = self.phase(self.ranks())
        if other is not None:
            self.call("verify", self.core.verify, other[0], other[2], schedule)

    def written(self, ranks: int) -> Any:
        """A schedule of an application: each rank exchanges with neighbours, stage after stage."""
        dice, rows = self.dice, []
        away, length_B = dice.randrange(1, max(ranks, 2)), dice.choice([0, 1, 5000])
        for rank in range(ranks):
            for stage in range(dice.choice([1, 2])):
                rows.append((rank, stage, self.core.Kind.reduce.value, -1, length_B))
            if ranks > 1:
                rows.append((rank, 2, self.core.Kind.send.value, (rank + away) % ranks, length_B))
                rows.append((rank, 2, self.core.Kind.receive.value, (rank - away) % ranks, length_B))
        columns = [np.array([row[place] for row in rows]) for place in range(len(COLUMNS))]
        if self.maybe(0.2):
            column = dice.choice(columns)
            column[dice.randrange(len(column))] = dice.choice([-1, 0, 1, ranks, 4, 2**31 - 1, -(2**31)])
        dtypes = self.spoiled([np.int32, np.int32, np.int32, np.int32, np.int64], 0.05)[: len(COLUMNS)]
        arrays = [
            column.astype(dtype if dtype in (np.int32, np.int64) else np.float64)
            for column, dtype in zip(columns, dtypes, strict=False)
        ]
        if self.maybe(0.05):
            arrays[0] = arrays[0][:-1]
        ranks = dice.choice(hostile.INTEGERS) if self.maybe(0.05) and ranks > 0 else ranks
        if ranks == 2**16 or ranks == 2**16 - 1:
            ranks = 2**20 + 1
        return self.call("write_schedule", self.core.write_schedule, ranks, *arrays)

    # Simulations.

    def curve(self, *, spoils: float = 0.0, least_s: float = 0.0) -> tuple[list[Any], list[Any]]:
        count = self.dice.choice([0, 1, 1, 2, 2, 4])
        sizes = sorted(self.dice.sample([0.0, 1.0, 2.0, 8.0, 100.0, 5000.0, 1e6, 1e18], count))
        times = [least_s + self.dice.choice([0.0, 1e-6, self.dice.random() * 1e-5]) for _ in sizes]
        return self.spoiled(sizes, spoils), self.spoiled(times, spoils)

    def message(self, spoils: float) -> list[Any]:
        curves: list[Any] = [self.curve(spoils=spoils) for _ in range(TERMS)]
        match self.dice.randrange(5):
            case 0:
                curves[HANDSHAKE] = ([], [])
            case 1:
                curves[HANDSHAKE] = ([0.0, 10.0, 11.0, 12.0], [-1.0, -1.0, -2.0, -2.0])
            case 2:
                curves[HANDSHAKE] = ([0.0, 10.0, 11.0, 50.0, 51.0, 52.0], [-1.0, -1.0, -2.0, -2.0, 1e-6, 1e-6])
            case 3:
                curves[HANDSHAKE] = ([0.0], [-1.0])
        # Links, queues and hops are the exception.
        for place in range(HANDSHAKE + 1, TERMS):
            if self.maybe(0.5):
                curves[place] = ([], [])
        return self.spoiled(curves, spoils)

    def costs(self, localities: int, spoils: float = 0.0) -> Any:
        """Curves that are accepted, where need be the second time."""
        message = [self.message(spoils) for _ in range(localities)]
        work = self.curve(spoils=spoils), self.curve(spoils=spoils)
        curves = self.call("CostCurves", self.core.CostCurves, self.spoiled(message, spoils), *work)
        return self.costs(localities) if curves is None else curves

    def network(self, ranks: int, spoils: float) -> Any:
        dice = self.dice
        node_size = dice.choice([1, 2, 4])
        nodes = [rank // node_size for rank in range(ranks)]
        named: dict[str, Any] = {"node_of_rank": nodes if self.maybe(0.6) else []}
        if named["node_of_rank"]:
            match dice.randrange(4):
                case 0:
                    named["torus"] = dice.choice([(4, 4), (16,), (2, 3, 4), (1, 16)])
                case 1:
                    named |= {"below": dice.choice([(2, 8), (4, 4)]), "uplinks": dice.choice([(1, 1), (2, 1)])}
                case 2:
                    named["memory_of_rank"] = [rank // 2 for rank in range(ranks)]
        for name, value in named.items():
            named[name] = self.spoiled(value, spoils)
        network = self.call("Network", self.core.Network, **named)
        if network is None:
            return self.network(ranks, 0)
        self.call("route", network.route, dice.choice([0, 1, -1]), dice.choice([0, 1, 3, 2**31 - 1]))
        assert network.links >= 0
        return network

    def surroundings(self, ranks: int, spoils: float) -> tuple[Any, dict[str, Any]]:
        """Costs, and levels and a network by name."""
        localities = self.dice.choice([1, 1, 2, 3])
        levels = np.array(
            [[rank // 2**level for rank in range(ranks)] for level in range(1, localities)], dtype=np.int32
        ).reshape(localities - 1, ranks)
        if self.maybe(spoils):
            levels = self.dice.choice([levels[:, :-1], levels.astype(np.int64), levels[None, :], levels.T])
        return self.costs(localities, spoils), {"levels": levels, "network": self.network(ranks, spoils)}

    def simulate(self, phases: Any, *, ranks: int, spoils: float) -> None:
        costs, named = self.surroundings(ranks, spoils)
        noise_s = self.dice.choice([[], [], [1e-6], [1e-6] * ranks])
        result = self.call(
            "simulate",
            self.core.simulate,
            phases,
            costs,
            **named,
            noise_s=self.spoiled(noise_s, spoils),
            seed=self.dice.choice([0, 1, 2**64 - 1] if self.maybe(1 - spoils) else [-1, 2**64, None]),
            by_class=self.maybe(0.1),
            trace=self.maybe(0.3),
            most_B=MOST_B if self.maybe(1 - spoils) else self.dice.choice([-1, 0, 1, 1000]),
        )
        if result is not None:
            assert np.isfinite(result.finish_s).all()
            assert result.critical.shape[0] == len(result.size_B)

    def by_class(self) -> None:
        """One rank for all, where that may be."""
        phase = self.phase(self.ranks())
        classes = phase and self.call("symmetric_classes", self.core.symmetric_classes, phase)
        if classes:
            no_levels, alone = np.zeros((0, 0), np.int32), self.core.Network(node_of_rank=[])
            named = {"levels": no_levels, "network": alone, "by_class": True, "trace": self.maybe(0.5)}
            self.call("simulate", self.core.simulate, [phase], self.costs(1), **named, most_B=MOST_B)

    def phases(self, ranks: int) -> list[Any]:
        """One or a few; now and then more than there may be."""
        count = self.dice.choice([1, 1, 1, 2, 3]) if self.maybe(0.97) else self.dice.choice([0, 16, 17])
        phases: list[Any] = []
        for _ in range(count):
            phase = self.written(ranks) if self.maybe(0.1) else self.phase(ranks)
            if phase is not None and self.maybe(0.2) and isinstance(phase, tuple):
                phase = self.core.generate(*phase)
            phases.append(phase)
        return [phase for phase in phases if phase is not None]

    def simulations(self) -> None:
        ranks = self.ranks()
        spoils = self.dice.choice([0.0, 0.0, 0.0, 0.05])
        for _ in range(3):
            self.simulate(self.spoiled(self.phases(ranks), spoils), ranks=ranks, spoils=spoils)
        # Whoever hands phases over may forget them while they are simulated.
        self.simulate(iter(self.phases(ranks)), ranks=ranks, spoils=0)
        phase = self.phase(ranks)
        if phase is not None:
            made = self.core.generate(*phase)
            self.simulate((self.core.Schedule(made) for _ in range(2)), ranks=ranks, spoils=0)

    def traces(self) -> None:
        ranks = self.ranks()
        spoils = self.dice.choice([0.0, 0.0, 0.05])
        phases = self.phases(ranks)
        costs, named = self.surroundings(ranks, spoils)
        trace = self.call("RecordedTrace", self.core.RecordedTrace, phases, costs, **named)
        if trace is None:
            return
        localities = len(named["levels"]) + 1
        row = TERMS * localities + 2
        for _ in range(3):
            times_s = [self.dice.random() * 1e-5 for _ in range(row * len(trace.size_B))]
            table = np.array(times_s).reshape(-1, row)
            for locality in range(localities):
                table[:, locality * TERMS + HANDSHAKE] = self.dice.choice([-1.0, -2.0, 1e-6])
            if self.maybe(0.2) and table.size:
                table.flat[self.dice.randrange(table.size)] = self.dice.choice(hostile.NUMBERS)
            if self.maybe(0.1):
                table = self.dice.choice([table[:-1], table[:, :-1], table.T, table[0]]) if len(table) else table
            self.call("RecordedTrace.finish_s", trace.finish_s, table)
            weights = np.ones(len(phases) * ranks + self.dice.choice([0, 0, 0, 1, -1]))
            self.call("RecordedTrace.gradient", trace.gradient, table, lambda _, weights=weights: weights)

    # Anything at all.

    def public(self) -> Iterator[tuple[str, Callable[..., Any]]]:
        """Every function, and the class and every method of each class, of an object of it where we have one."""
        core = self.core
        schedule = core.generate("bcast", "binomial", core.Problem(ranks=4, bytes=8))
        objects = [
            schedule,
            schedule[0],
            schedule[0].steps,
            schedule[0].steps[0],
            schedule[0].steps[0].source,
            core.Problem(ranks=2),
            self.algorithms[0],
            self.collectives["bcast"],
            core.count(schedule),
            core.moves(schedule)[0],
            core.Network(node_of_rank=[0, 1], torus=[2]),
            core.Regimes(np.array([0.0, 1.0]), np.ones(2), np.zeros(2)),
            self.costs(1),
        ]
        for name, value in vars(core).items():
            if callable(value):
                yield name, value
        for thing in objects:
            for name in dir(type(thing)):
                method = getattr(thing, name)
                if callable(method) and name not in OF_EVERY_OBJECT:
                    yield f"{type(thing).__name__}.{name}", method

    def anything(self) -> None:
        """Every public callable with arguments of any kind, some of them of ours."""
        ours = [self.core.Problem(ranks=2), self.core.generate("barrier", "tree", self.core.Problem(ranks=2))]
        ours += ["bcast", "binomial", 0, 1, np.zeros((0, 0), np.int32), np.zeros(3), self.core.Kind.send]
        for name, function in self.public():
            arguments = [
                self.dice.choice(ours) if self.maybe(0.5) else hostile.anything(self.dice)
                for _ in range(self.dice.randrange(7))
            ]
            self.call(name, function, *arguments)

    def forgotten(self) -> None:
        """Parts outlive the whole, and objects that were never begun are none."""
        core = self.core
        phase = self.phase(self.ranks())
        if phase is not None:
            schedule = core.generate(*phase)
            parts = [*schedule, *(step.source for mine in schedule for step in mine.steps)]
            iterator = iter(schedule)
            del schedule
            gc.collect()
            assert all(repr(part) for part in parts)
            assert sum(len(mine.steps) for mine in iterator) >= 0
        kinds = [core.Schedule, core.Step, core.Problem, core.Network, core.Counts, core.Regimes]
        kind = self.dice.choice(kinds)
        for function in (core.count, core.moves, core.Schedule, core.RankSchedule, core.Regimes.pieces, len):
            self.call("unbegun", function, kind.__new__(kind))

    def statistics(self) -> None:
        samples = [self.dice.random() for _ in range(self.dice.choice([1, 2, 7, 100]))]
        self.call("median_interval", self.core.median_interval, self.spoiled(samples))

    def regimes(self) -> None:
        """A curve and its cut, then other cuts, of which most cover it."""
        count = self.dice.choice([1, 2, 3, 4, 7, 20])
        if self.maybe(0.02):
            count = self.dice.choice([0, 96, 97])
        sizes = sorted(self.dice.sample(range(200), count))
        times_s = [self.dice.random() + 1e-9 for _ in sizes]
        columns: list[list[Any]] = [sizes, times_s, [self.dice.random() * 0.1 for _ in sizes]]
        size_B, time_s, noise = (self.column(self.spoiled(values, 0.05)) for values in columns)
        limit_B = self.dice.choice([None, None, 20.0, hostile.scalar(self.dice)])
        curve = self.call("Regimes", self.core.Regimes, size_B, time_s, noise, limit_B)
        if curve is not None:
            assert self.call("Regimes.pieces", curve.pieces, curve.best)
            kind = tuple if self.maybe(0.9) else list
            cut = [kind(self.spoiled(stretch, 0.05)) for stretch in curve.best]
            self.call("Regimes.pieces", curve.pieces, self.spoiled(cut))
            places = sorted(self.dice.randrange(len(sizes)) for _ in range(3)) if sizes else [0] * 3
            self.call("Regimes.gain", curve.gain, *self.spoiled(places))
        rows = self.dice.choice([1, 3])
        tables = [self.column([values] * rows) for values in (sizes, self.spoiled(times_s, 0.05))]
        self.call("nonnegative_lines", self.core.nonnegative_lines, *tables)

    def column(self, values: Sequence[Any]) -> Any:
        """An array of the values, now and then of another type; the values where they make none."""
        try:
            return np.array(values, dtype=np.float64 if self.maybe(0.95) else None)
        except (TypeError, ValueError, OverflowError):
            return values

    def run(self, accepted: int) -> None:
        """Until so many calls of each kind were accepted."""
        every = [self.schedules, self.simulations, self.simulations, self.by_class, self.hostile_problems]
        every += [self.broken_schedules, self.traces, self.forgotten, self.statistics, self.regimes]
        while min(self.total(SIMULATE), self.total(SCHEDULE)) < accepted:
            for act in every:
                act()
            if self.maybe(0.1):
                self.anything()

    def total(self, names: Sequence[str]) -> int:
        return sum(self.accepted[name] for name in names)

    def table(self) -> str:
        """Calls by function, and those accepted of the two kinds."""
        names = sorted({*self.accepted, *self.refused})
        lines = [f"{'function':<28}{'calls':>9}{'accepted':>10}{'refused':>9}"]
        for name in names:
            yes, no = self.accepted[name], self.refused[name]
            lines.append(f"{name:<28}{yes + no:>9,}{yes:>10,}{no:>9,}")
        yes, no = self.accepted.total(), self.refused.total()
        lines.append(f"{'all':<28}{yes + no:>9,}{yes:>10,}{no:>9,}")
        lines.append(f"accepted: {self.total(SIMULATE):,} of simulate, {self.total(SCHEDULE):,} of schedules")
        return "\n".join(lines)


OF_EVERY_OBJECT = {*dir(object), "__new__"}


def main() -> None:
    """Call, then print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core", type=Path)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--accepted", type=int, default=20_000)
    arguments = parser.parse_args()
    calls = Calls(load(cast("Path | None", arguments.core)), Random(arguments.seed))
    calls.run(arguments.accepted)
    print(calls.table())


if __name__ == "__main__":
    main()

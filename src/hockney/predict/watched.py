"""Watch what a library's default sends in launches of its own, and name the algorithms that send the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

import numpy as np

from hockney.campaign.launch import Launch, utc_now
from hockney.campaign.plan import Launching
from hockney.campaign.prepare import counting_launches
from hockney.errors import EnvironmentLack, RequestError
from hockney.predict.identified import AlgorithmSwitch, IdentifiedCell, IdentifiedOperation, NameSet, ways_of
from hockney.predict.identify.forced import Forced, forced, in_doubt
from hockney.predict.identify.told import SETTING, WATCHING, DefaultCall, named, seen
from hockney.predict.identify.watching import Sent, Unsteady, Watch, WatchedCall, WatchedSize, turns
from hockney.progress import Progress, silent
from hockney.records.answers import CallCount, Hello
from hockney.records.defaults import Defaults, WatchedCell
from hockney.records.keys import COLLECTIVES, ELEMENT_B
from hockney.runner.launchers.base import BESIDE
from hockney.runner.library import RULES, WITHOUT_RULES, Counting, rules_first
from hockney.runner.session import LaunchFailed, Limitation, Refused, Session
from hockney.units import counted

MOST_COUNTS = 4
"""Of one call, until the kernel counts the same twice: a library may have messages of its own in between."""
HANG_S = 30.0
"""A call that has not come back by then hangs."""


@dataclass(frozen=True)
class Watched:
    """One answer for each variant, operation and number of ranks; `cells` as the campaign's file keeps them."""

    answers: list[IdentifiedOperation] = field(default_factory=list)
    cells: list[WatchedCell] = field(default_factory=list)
    time: str = field(default_factory=utc_now)


class NotCounted(EnvironmentLack):
    """The library was launched, and does not count its messages."""


class _Counter:
    """A launch in which calls are counted, begun again where an algorithm has ended it."""

    def __init__(self, launch: Launch, how: Counting, limit_s: float) -> None:
        self._launch = launch
        self._how = how
        self._limit_s = limit_s
        self._broken: set[tuple[str, WatchedCall]] = set()
        self.warnings: list[str] = []
        self._session: Session | None = None
        self.hello = self._begun().hello

    def _begun(self) -> Session:
        if self._session is None:
            try:
                self._session = Session(self._launch.argv, self._launch.environment, self._limit_s)
            except LaunchFailed as error:
                why = f"a launch that counts messages fails: {error.message}"
                raise EnvironmentLack(f"{self._launch.mpi_name} cannot be watched: {why}", error.hint) from error
        return self._session

    def count(self, operation: str, ranks: int, asked: WatchedCall, size_B: int) -> Sent | None:
        """What the call sends; None where the algorithm does not do it, or ended a launch.

        Unsteady where the kernel does not count the same twice.
        """
        if (operation, asked) in self._broken:
            return None
        request = {
            "operation": operation,
            "algorithm": asked.algorithm,
            "ranks": ranks,
            "root": 0,
            "rotate": 0,
            "bytes": size_B,
            "segment_B": asked.segment_B,
            "radix": asked.radix,
            "start": "barrier",
            "sockets": int(self._how.by_kernel),
        }
        try:
            sent = self._once(request)
            if not self._how.by_kernel:
                return sent
            for _ in range(MOST_COUNTS - 1):
                before, sent = sent, self._once(request)
                if sent.is_like(before):
                    return sent
        except (Limitation, Refused):
            return None
        except LaunchFailed as error:
            self._session = None
            if not self._how.by_kernel and len({place.host for place in self.hello.ranks}) > 1:
                # Open MPI 5.0.11 does so at random where its monitoring meets its component han.
                raise NotCounted(f"{self._launch.mpi_name} ends while it counts: {error.message}") from error
            self._broken.add((operation, asked))
            self.warnings.append(f"{operation} {asked.algorithm} was left out: {error.message}")
            return None
        raise Unsteady(f"what {asked.algorithm} sends was not counted the same twice in {MOST_COUNTS} calls")

    def _once(self, request: Mapping[str, object]) -> Sent:
        answer = self._begun().count(HANG_S, **request)
        return _sent(answer, self._how, self._launch.mpi_name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            self._session.__exit__(kind, error, trace)


def _sent(answer: CallCount, how: Counting, mpi: str) -> Sent:
    if how.by_kernel:
        return Sent(np.array(answer.sockets_B, dtype=np.int64))
    if answer.messages is None or answer.bytes is None:
        raise NotCounted(
            f"{mpi} cannot be watched: it does not offer its count of messages (component pml/monitoring)",
            "identify it from times: `hockney identify CAMPAIGN --evidence times`",
        )
    return Sent(np.array(answer.bytes, dtype=np.int64), np.array(answer.messages, dtype=np.int64))


def watch(
    launching: Launching,
    operations: Sequence[str],
    ranks: Sequence[int],
    sizes_B: Sequence[int],
    *,
    mpi: str = "",
    known: Defaults | None = None,
    progress: Progress = silent,
) -> Watched:
    """The algorithms behind the default of each operation on each number of ranks, at `sizes_B` and at switches.

    `mpi`: the library that must be the one here, as tables name it; `known`: settings that must
    hold, as far as they choose algorithms. RequestError where another library, or other settings, are here.
    EnvironmentLack, in a line, where the library cannot be watched.
    """
    ways = counting_launches(launching)
    if mpi and (here := ways[0][1][0].mpi_name) != mpi:
        raise RequestError(
            f"the times are of {mpi}, and watching would launch {here}", "name the library with --mpi"
        )
    asked = [(operation, count) for operation in operations for count in ranks]
    *exact, last = ways
    for how, launches in exact:
        with suppress(NotCounted):
            return _by(how, launches, launching.time_limit_s, asked, sizes_B, known, progress)
    return _by(*last, launching.time_limit_s, asked, sizes_B, known, progress)


def _by(
    how: Counting,
    launches: Sequence[Launch],
    limit_s: float,
    asked: Sequence[tuple[str, int]],
    sizes_B: Sequence[int],
    known: Defaults | None,
    progress: Progress,
) -> Watched:
    """What launches of one way of counting say."""
    done = Watched()
    for launch in launches:
        with ExitStack() as both:
            counter = both.enter_context(_Counter(launch, how, limit_s))
            asking = counter
            if rules_first(launch.mpi_name, counter.hello.settings):
                without = replace(launch, environment={**launch.environment, **WITHOUT_RULES, **BESIDE})
                asking = both.enter_context(_Counter(without, how, limit_s))
                if file := rules_first(launch.mpi_name, asking.hello.settings):
                    raise EnvironmentLack(
                        f"{launch.mpi_name} goes by the rules of {file}, also in a launch that asks for none",
                        f"name the file in {RULES}, not on the command line or in a file of parameters",
                    )
            if known is not None:
                _expect_same(known, (launch.mpi_name, launch.variant), counter.hello.settings, asked)
            for operation, count in asked:
                share = len(done.answers) / (len(launches) * len(asked))
                progress(share, f"watching {operation} on {counted(count, 'rank')}")
                _watch_one(done, counter, asking, launch, how, operation, count, sizes_B)
    return done


def _expect_same(
    known: Defaults, of_launch: tuple[str, str], now: Mapping[str, str], asked: Sequence[tuple[str, int]]
) -> None:
    """RequestError where a setting forces an operation in one launch and not in another: a known one, or now."""
    mpi, then = of_launch[0], known.settings.get(of_launch, {})
    for operation, _ in asked:
        if name := in_doubt(operation, then, known.differing.get(of_launch, ()), mpi):
            raise RequestError(
                f"{operation}: the launches of the campaign differ in the setting {name}",
                "leave the campaign out, and say --mpi and --ranks",
            )
        before, here = (forced(operation, settings, mpi=mpi, ranks=1, nodes=1) for settings in (then, now))
        if before != here:
            said = [one.words if one else "the library" for one in (before, here)]
            raise RequestError(
                f"{operation}: {said[0]} chose the algorithm when the campaign was launched, {said[1]} does now",
                "watch it with the settings that it was launched with",
            )


def _watch_one(
    done: Watched,
    counter: _Counter,
    asking: _Counter,
    launch: Launch,
    how: Counting,
    operation: str,
    ranks: int,
    sizes_B: Sequence[int],
) -> None:
    """Add what one operation does on so many ranks; `asking` counts the algorithms that are asked for."""
    hello, collective = counter.hello, COLLECTIVES[operation]
    element_B = ELEMENT_B if collective.reduces else 1
    asked_B = [max(size_B // element_B, 1) * element_B for size_B in sizes_B] if collective.has_size else [0]
    offered = [each for each in hello.algorithms if (each.operation, each.kind) == (operation, "library")]
    one = Watch(
        operation,
        launch.mpi_name,
        ranks,
        offered,
        lambda asked, size_B: (counter if asked.algorithm == "default" else asking).count(
            operation, ranks, asked, size_B
        ),
        element_B,
    )
    found = sorted(one.over(asked_B), key=lambda each: each.size_B)
    nodes = ranks if how.is_flat else len({place.host for place in hello.ranks[:ranks]})
    force = forced(operation, hello.settings, mpi=launch.mpi_name, ranks=ranks, nodes=nodes)
    told = [
        _told(each, DefaultCall(operation, launch.mpi_name, launch.variant, ranks, nodes, each.size_B), force)
        for each in found
    ]
    warnings = list(dict.fromkeys([*counter.warnings, *asking.warnings]))
    counter.warnings.clear()
    asking.warnings.clear()
    if how.is_flat and _shares_nodes(hello, ranks):
        warnings.append(
            "while it is watched every rank counts as a node of its own: what ranks on one node do was not seen"
        )
    if force is not None and force.algorithm and any(cell.names and cell.way == WATCHING for cell in told):
        warnings.append(f"{operation}: {force.setting} is set, but the messages are others at some sizes")
    switches = [
        AlgorithmSwitch(ranks, nodes, turn.last.size_B, turn.first.size_B, _words(turn.last), _words(turn.first))
        for turn in turns(found)
    ]
    names = sorted({name.words for cell in told for name in cell.names or ()})
    done.answers.append(
        IdentifiedOperation(
            operation, "", launch.mpi_name, ways_of(told), told, switches, names, warnings, launch.variant
        )
    )
    done.cells.extend(
        WatchedCell(
            operation=operation,
            mpi=launch.mpi_name,
            variant=launch.variant,
            ranks=ranks,
            nodes=nodes,
            bytes=each.size_B,
            names=None if each.names is None else [seen(*pair) for pair in each.names.items()],
            fits_none=each.fits_none,
            why=each.why,
        )
        for each in found
    )


def _shares_nodes(hello: Hello, ranks: int) -> bool:
    return len({place.host for place in hello.ranks[:ranks]}) < ranks


def _told(found: WatchedSize, place: DefaultCall, force: Forced | None) -> IdentifiedCell:
    """The set that was seen; the algorithm that a setting forces, where its messages are those that were seen."""
    asked = None
    if force is not None and force.algorithm:
        asked = named(force.algorithm, place, force.segment_B, force.radix)
    names = None if found.names is None else list(found.names)
    way, why = WATCHING, found.why
    if force is not None and asked is not None and names is not None and asked in names:
        names, way, why = [asked], SETTING, f"forced by the setting {force.setting}"
    elif force is not None and not force.algorithm and names is not None:
        why = f"by watching; the setting {force.setting} decides"
    shares = None if names is None else tuple(NameSet((name.name,), 1 / len(names)) for name in names)
    return IdentifiedCell(place.ranks, place.nodes, found.size_B, shares, way, why)


def _words(found: WatchedSize) -> str:
    return " or ".join(candidate.name for candidate in found.names or {})

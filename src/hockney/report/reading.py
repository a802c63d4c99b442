"""A campaign or a tidy table settled once: level, shared cores, statistics, places, fits, and what to mind.

It stands in this room because pages need all of it: whoever makes one (api, studies) hands a `Wish` to
`Reading.of`, every contributor to the page takes the `Reading`, and nothing below asks again. What only fits
takes its contents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pandas as pd

from hockney.errors import RequestError
from hockney.machine.build import fitted
from hockney.machine.file import Machine
from hockney.machine.locality import Places, read
from hockney.machine.provenance import reservations, warnings_of
from hockney.machine.system import System
from hockney.models.base import models
from hockney.models.effects.base import Effect
from hockney.models.over_ranks.points import visits_of
from hockney.records.contents import Contents, unmeasured
from hockney.records.journal import LaunchLine
from hockney.records.keys import COLLECTIVES, POINT_TO_POINT
from hockney.records.series_of_table import default_statistic
from hockney.records.table import collectives_in, rows_of
from hockney.report.curves import MessageCurve, curves
from hockney.report.explorer.chart import Explored
from hockney.report.explorer.explored import Explorable, explored, in_order
from hockney.report.figures import Context
from hockney.report.findings import shares_cores
from hockney.report.marks import Peak, adapter_peaks, found_peaks, marks_of_caches, placed, unmatched
from hockney.report.style import Looks, model_styles
from hockney.units import counted, format_bytes

Progress = Callable[[str], None]
"""Takes what is being done, in words."""


def unsaid(_: str) -> None:
    """What is being done, not shown."""


@dataclass(frozen=True)
class Subject:
    """What a page is made for: a question, what is compared to answer it, and remarks on what there is of it.

    Answers about its `operations` come first, and before these one of the operations of each of its `parts`.
    """

    question: str
    operations: tuple[str, ...] = ()
    about: str = ""
    remarks: tuple[str, ...] = ()
    parts: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Wish:
    """What a reader wants of a page.

    The fits are those of `machine`, otherwise made from what was measured. `peaks` are lines to draw. `systems`
    describe where ranks are; without them, the launches do. `statistic` is that of all collectives that have it;
    `sizes_B` are drawn and fitted against ranks.
    """

    machine: Machine | None = None
    peaks: Sequence[Peak] = ()
    systems: Sequence[System] = ()
    statistic: str = ""
    sizes_B: Sequence[int] = ()
    subject: Subject | None = None


PLAIN = Wish()
"""A page as it is made where nothing is asked for."""


@dataclass(frozen=True)
class Reading:
    """What was measured, at the level that was asked for, and what was settled about it.

    `machine`: the fits that are shown, None where there is nothing to fit; that of `wish` may only predict.
    `statistics`: of each collective that is shown its statistic. `warnings`: what is to be read before the
    numbers, the worst first. `campaign`: its name beside others of one page.
    """

    contents: Contents
    wish: Wish
    machine: Machine | None
    statistics: Mapping[str, str]
    warnings: list[str]
    progress: Progress = unsaid
    campaign: str = ""

    @classmethod
    def of(
        cls,
        measured: Path | Contents,
        wish: Wish = PLAIN,
        progress: Progress = unsaid,
        *,
        statistics: Mapping[str, str] | None = None,
        campaign: str = "",
    ) -> Reading:
        """A campaign folder or tidy table, or what it holds where that was read before.

        `statistics`: where they are settled already, None as the wish says. RequestError if nothing was measured,
        if the machine of the wish was fitted to other launches, if the table has no row of a system, or if no
        collective has the statistic or a size.
        """
        contents = _read(measured, wish, progress) if isinstance(measured, Path) else measured
        unmet: list[str] = []
        if statistics is None:
            statistics, unmet = statistics_of(contents.frame, wish.statistic, wish.sizes_B)
        machine, caveats = _fits(contents, wish, statistics, progress)
        reading = cls(contents, wish, machine, statistics, [], progress, campaign)
        effects = [] if machine is None else machine.effects
        of_messages, of_effects = shared_cores(reading.curves, effects, reading.launches)
        # A machine file repeats the warnings of its campaign.
        unmet += unmatched(reading._wished, ((curve.entry.locality, curve.size_B) for curve in reading.curves))
        warnings = [*dict.fromkeys([*of_messages, *caveats]), *of_effects, reading.unmeasured, *unmet]
        remarks = wish.subject.remarks if wish.subject else ()
        return replace(reading, warnings=[*remarks, *filter(None, warnings)])

    @classmethod
    def of_machine(cls, machine: Machine) -> Reading:
        """A machine file alone: fits, models and what was published, without what was measured for them."""
        nothing = Contents(Path(machine.system.name or "a machine"), rows_of([], []))
        return cls(nothing, Wish(machine), machine, {}, warnings_of(machine))

    @property
    def is_alone(self) -> bool:
        """Whether there is nothing but a machine file."""
        return not (len(self.frame) or self.contents.effects or self.contents.apps)

    @property
    def name(self) -> str:
        """The name of the folder or file."""
        return self.contents.path.name

    @property
    def frame(self) -> pd.DataFrame:
        """The tidy table."""
        return self.contents.frame

    @property
    def launches(self) -> list[LaunchLine]:
        """The launches, as they were recorded."""
        return self.contents.launches

    @property
    def origin(self) -> str:
        """Where the numbers of the page are from."""
        if self.is_alone and self.machine is not None:
            return f"All of it is of a machine file of {self.machine.created}."
        measured = f"Measured values are those of {self.name}. "
        if self.machine is None:
            return measured
        if self.machine is self.wish.machine:
            return f"{measured}The fits are those of a machine file of {self.machine.created}."
        return f"{measured}The models were fitted to all of them."

    @cached_property
    def unmeasured(self) -> str:
        """A sentence on points that the campaign could not measure; empty for a table, or if there are none."""
        return not_measured(self.contents)

    @cached_property
    def is_crowded(self) -> bool:
        """Whether ranks of every launch shared cores: who is fastest then says nothing of the algorithms."""
        return bool(self.launches) and all(map(shares_cores, self.launches))

    @cached_property
    def places(self) -> Places:
        """Where ranks were."""
        return _places(self.contents, self.wish)

    @cached_property
    def curves(self) -> list[MessageCurve]:
        """The measured entries of the machine, in the order of the page."""
        return [curve for curve in self._entries if curve.entry.measurements.points]

    @cached_property
    def published(self) -> list[MessageCurve]:
        """Those of which there are fits alone."""
        return [curve for curve in self._entries if not curve.entry.measurements.points and curve.fits]

    @cached_property
    def _entries(self) -> list[MessageCurve]:
        return [] if self.machine is None else curves(self.machine)

    @property
    def _wished(self) -> list[Peak]:
        return placed(self.wish.peaks, {curve.entry.locality for curve in self.curves})

    @cached_property
    def context(self) -> Context:
        """Styles of models, sizes and peaks that the figures of messages mark."""
        systems = self.places.systems
        peaks = self._wished or found_peaks(self.launches) or adapter_peaks(systems)
        marks = [] if self.machine is None else marks_of_caches(self.machine, self.launches, systems)
        return Context(model_styles(models.names()), self.looks, marks, peaks)

    @cached_property
    def source(self) -> Explorable:
        """What is explored of it."""
        visits = {name: visits_of(self.contents, name, chosen) for name, chosen in self.statistics.items()}
        return Explorable(
            self.name, self.frame, self.curves, self.statistics, self.launches, self.campaign, visits
        )

    @cached_property
    def explored(self) -> Explored | None:
        """All points of messages and collectives; None where there are none."""
        return explored([self.source], self.wish.subject.operations if self.wish.subject else ())

    @cached_property
    def looks(self) -> Looks:
        """The styles of the page; algorithms that lead have the clearest, whatever is drawn first."""
        looks = Looks()
        looks.of([] if self.explored is None else in_order(self.explored))
        return looks


def shared_cores(
    curves: Sequence[MessageCurve], effects: Sequence[Effect], launches: Sequence[LaunchLine]
) -> tuple[list[str], list[str]]:
    """Warnings of cores that ranks shared: of messages and collectives, and of effects."""
    names = dict.fromkeys(each.effect for each in effects if each.oversubscribed and not each.not_measurable)
    crowded = [curve for curve in curves if curve.entry.oversubscribed]
    share = f" ({len(crowded)} of {counted(len(curves), 'configuration')} of messages)." if curves else "."
    waiting = f"Oversubscribed: there were more ranks than cores, so times contain waiting for a core{share}"
    of_effects = f"effects measured with more ranks than cores ({', '.join(names)}) contain waiting for a core."
    return (
        [waiting] if crowded or any(launch.oversubscribed for launch in launches) else [],
        [f"Oversubscribed: {of_effects}"] if names else [],
    )


def _read(path: Path, wish: Wish, progress: Progress) -> Contents:
    """The contents of the folder or table; RequestError for a folder without any measurement."""
    progress(f"reading {path.name}")
    contents = read(path, wish.systems)
    is_empty = contents.frame.empty and not contents.records
    if path.is_dir() and is_empty and not contents.apps and not contents.effects:
        raise RequestError(
            f"{path} holds no record"
            + (f" ({len(contents.warnings)} damaged lines)" if contents.warnings else ""),
            f"continue with `hockney measure --resume -o {path}`",
        )
    return contents


def not_measured(contents: Contents) -> str:
    """A sentence on points that a campaign could not measure; empty for a table, or if there are none."""
    points = unmeasured(contents.records, contents.failures)
    if not points:
        return ""
    more = f" and {len(points) - 1} more" if len(points) > 1 else ""
    is_joined = not isinstance(contents.plan, RequestError) and "merged" in contents.plan.model_fields_set
    again = f"`hockney measure -o {contents.path} --resume`"
    if is_joined:
        # What was joined cannot go on; where it is from, each step of a study, too, is a campaign.
        again = "--resume of the campaign that lacks it"
    return f"Not measured: {points[0]}{more}; {again} tries again."


def _places(contents: Contents, wish: Wish) -> Places:
    return Places(contents.frame, wish.systems, contents.launches, contents.apps)


def _fits(
    contents: Contents, wish: Wish, statistics: Mapping[str, str], progress: Progress
) -> tuple[Machine | None, list[str]]:
    """The fits that are shown, of the wish or made here, with warnings of the data and of them."""
    machine = wish.machine
    if wish.systems:
        # Before minutes of fitting: it refuses systems that the table does not have.
        _places(contents, wish)
    if contents.apps and not len(contents.frame) and not contents.effects:
        # The file then only predicts applications; its points may be those of another campaign.
        machine = None
    if machine is not None:
        _check_belongs(machine, contents)
        of_entries = reservations(machine.point_to_point, contents)
        return machine, [*of_entries, *contents.warnings, *machine.provenance.warnings]
    if contents.effects or set(contents.frame["operation"].unique()) & set(POINT_TO_POINT):
        machine = fitted(contents, progress, statistics)
        return machine, machine.provenance.warnings
    return None, [*reservations([], contents), *contents.warnings]


def _check_belongs(machine: Machine, contents: Contents) -> None:
    path, launches = contents.path, contents.launches
    used = {name for entry in machine.point_to_point for name in entry.measurements.launches}
    used |= {name for effect in machine.effects for name in effect.launches}
    if launches and used and used.isdisjoint(launch.id for launch in launches):
        raise RequestError(
            f"the machine file was fitted to other launches than those of {path}",
            f"fit again with `hockney fit {path} -o machine.json`, or leave --machine out",
        )
    if not machine.point_to_point and not machine.effects and not machine.collectives:
        raise RequestError("the machine file holds no point-to-point fit", f"fit again with `hockney fit {path}`")
    entries = machine.point_to_point
    if entries and not any(entry.measurements.points for entry in entries):
        raise RequestError(
            f"the machine file was published, not fitted to what was measured in {path}",
            "leave --machine out; `hockney report --card` and `hockney diff` show what was published",
        )


def statistics_of(
    frame: pd.DataFrame, statistic: str = "", sizes_B: Sequence[int] = ()
) -> tuple[dict[str, str], list[str]]:
    """The statistic of each collective of a table, and sentences on what of the reader's wish cannot be shown.

    `statistic` (empty: the one that says most) and `sizes_B` are for each collective that has them; RequestError
    where none has.
    """
    names = collectives_in(frame)
    statistics = {name: default_statistic(frame, name) for name in names}
    rows = {name: frame[frame["operation"] == name] for name in names}
    sized = [name for name in names if COLLECTIVES[name].has_size]
    unmet = []
    if statistic:
        held = {name: set(rows[name]["statistic"]) for name in names}
        if not any(statistic in measured for measured in held.values()):
            measured = ", ".join(sorted(set().union(*held.values()) - {""})) or "no collective"
            raise RequestError(f"no collective has times of the statistic {statistic!r}", f"there is {measured}")
        lacking = [name for name in names if statistic not in held[name]]
        statistics |= dict.fromkeys([name for name in names if name not in lacking], statistic)
        unmet += [f"{name} has no {statistic}: shown is {statistics[name]}." for name in lacking]
    for size_B in sizes_B:
        lacking = [name for name in sized if size_B not in set(rows[name]["bytes"])]
        if lacking == sized:
            sizes = sorted({int(size) for name in sized for size in rows[name]["bytes"]})
            measured = ", ".join(map(format_bytes, sizes)) or "no collective"
            raise RequestError(f"no collective was measured at {format_bytes(size_B)}", f"there is {measured}")
        if lacking:
            unmet.append(f"{', '.join(lacking)}: not measured at {format_bytes(size_B)}, so not shown there.")
    return statistics, unmet

"""The machine file: fitted models of a system and where they came from (docs/reference/machine-file.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hockney import reading, writing
from hockney.errors import RequestError
from hockney.machine.check import Fault, collective_faults, fit_faults, interval_faults, row_faults
from hockney.machine.shipped import located
from hockney.models.base import Fit
from hockney.models.collectives.base import CollectiveModel
from hockney.models.effects.base import Effect
from hockney.records.answers import first_problem
from hockney.records.levels import MOST_EXPONENT as MOST
from hockney.records.record import Locality
from hockney.records.series import Caches, Series

SCHEMA_VERSION = 5
_MAKE_ONE = "make one with `hockney fit CAMPAIGN -o {path}`"


class _MachineFilePart(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", allow_inf_nan=False)


class HostCache(_MachineFilePart):
    """One cache of a host; `shared` are the CPUs that share it, none where nobody says."""

    level: int
    type: str
    size_B: int
    shared: list[int] = Field(default_factory=list)


class HostCpu(_MachineFilePart):
    """The position of a CPU that ran a rank."""

    cpu: int
    package: int | None = None
    numa: int | None = None
    core: int | None = None
    siblings: list[int] = Field(default_factory=list)


class Host(_MachineFilePart):
    """One node as its ranks reported it; only the CPUs that ran a rank are listed."""

    host: str
    cpu_model: str = ""
    kernel: str = ""
    governor: str = ""
    cpus: int | None = None
    memory_B: int | None = None
    caches: list[HostCache] = Field(default_factory=list)
    topology: list[HostCpu] = Field(default_factory=list)


class MeasuredSystem(_MachineFilePart):
    """The cluster that was measured."""

    name: str = ""
    hosts: list[Host] = Field(default_factory=list)


class MpiLibrary(_MachineFilePart):
    """One MPI; `settings` are those that hold in all its launches, the others stand with their launch."""

    name: str = Field(default="", description="the word in `other.mpi` of an entry")
    kind: str = Field(default="", description="openmpi, mpich, intel or unknown")
    version: str = ""
    standard: str = ""
    library: str = Field(default="", description="MPI_Get_library_version")
    wrapper: str = ""
    launcher: str = ""
    compiler: str = ""
    settings: dict[str, str] = Field(default_factory=dict)


class Point(_MachineFilePart):
    """One measured size: steady median over launches, median over pairs; the interval holds all pairs'."""

    size_B: int = Field(ge=0)
    time_s: float = Field(gt=0)
    low_s: float | None = None
    high_s: float | None = None
    freedom: float | None = Field(default=None, gt=0, description="degrees of freedom behind the interval")
    records: int | None = Field(default=None, description="measurements combined: launches × pairs")
    samples: int | None = Field(default=None, description="timed samples behind them, where known")
    disturbed: int | None = Field(default=None, description="samples set aside as disturbed, where known")
    stop: list[str] = Field(default_factory=list, description="criteria that ended the repetitions")
    elsewhere: bool = Field(
        default=False, description="never met at the entry's level of the machine: it stands at the one it has"
    )
    reference_exponent: float | None = Field(
        default=None, ge=0, le=MOST, description="within its level the time goes as this power of the reference"
    )
    reference_exponent_error: float | None = Field(default=None, ge=0, description="standard error of that power")
    large_reference_exponent: float | None = Field(
        default=None, ge=0, le=MOST, description="and as this power of the large reference over the reference"
    )
    large_reference_exponent_error: float | None = Field(
        default=None, ge=0, description="standard error of that power"
    )


LEAST_SIZES = 3
"""With fewer sizes at a level there are points, but no models."""


def at_level(points: Sequence[Point]) -> list[Point]:
    """The points at the entry's level, unless there are hardly any: others say nothing about it."""
    own = [point for point in points if not point.elsewhere]
    return own if len(own) >= LEAST_SIZES else list(points)


def series_of(points: Sequence[Point]) -> Series:
    """Points of a machine file as a series without a key; RequestError where there are none."""
    size_B = np.array([point.size_B for point in points], dtype=np.float64)
    time_s = np.array([point.time_s for point in points])
    low_s = np.array([point.time_s if point.low_s is None else point.low_s for point in points])
    high_s = np.array([point.time_s if point.high_s is None else point.high_s for point in points])
    freedom = np.array([np.nan if point.freedom is None else point.freedom for point in points])
    return Series({}, size_B, time_s, low_s, high_s, freedom=freedom)


class Measurements(_MachineFilePart):
    """What the fits of an entry were made from; all of it empty where they were published, not measured."""

    campaign: str = ""
    launches: list[str] = Field(default_factory=list, description="ids in provenance.launches")
    points: list[Point] = Field(default_factory=list)
    overheads: dict[str, list[Point]] = Field(
        default_factory=dict, description="send_overhead and receive_overhead, for the loggp model"
    )
    last_cache_B: int | None = Field(
        default=None,
        gt=0,
        description="smallest last-level cache of the hosts; none of messages outside caches or between nodes",
    )
    before_last_cache_B: int | None = Field(default=None, gt=0, description="smallest of those before it")

    @property
    def caches(self) -> Caches | None:
        """The caches, where known."""
        return None if self.last_cache_B is None else Caches(self.last_cache_B, self.before_last_cache_B)

    @cached_property
    def series(self) -> Series:
        """What the models were fitted to; a machine made in this process keeps the one that it was made from."""
        return replace(series_of(at_level(self.points)), caches=self.caches)


class EntryLevel(_MachineFilePart):
    """The level of the machine at which an entry was measured (`hockney.records.levels`)."""

    reference_s: float = Field(gt=0, description="what is timed as a reference: 8 B one way, or a barrier")
    large_reference_s: float | None = Field(
        default=None, gt=0, description="64 KiB one way, at the same time; absent: not timed"
    )
    share: float = Field(ge=0, le=1, description="of the references of the campaign")
    stay: float = Field(ge=0, description="references in a row, the median of its stays")
    cause: str = Field(default="", description="what goes with it, or that nothing does; empty: not compared")


class EntryModes(_MachineFilePart):
    """Two modes of times at one level of the machine (`hockney.records.contents`)."""

    smallest_B: int = Field(ge=0)
    largest_B: int = Field(ge=0)
    times_as_long: float = Field(gt=0, description="the slower mode, beside the quicker")
    share: float = Field(ge=0, le=1, description="of the time, the slower")


class OtherLevel(_MachineFilePart):
    """What an entry is at another level."""

    level: EntryLevel | None = None
    times_as_long: float | None = Field(
        default=None, gt=0, description="median over the sizes that both have; none without such sizes"
    )
    fits: dict[str, Fit] = Field(default_factory=dict, description="where its sizes suffice")
    points: list[Point] = Field(default_factory=list)


class Entry(_MachineFilePart):
    """One operation on one kind of pair: what was held fixed, the models fitted to it, and the measurements.

    Times are per message: for `pingpong` half the round trip, for `bandwidth` window time / window size, for
    `bidirectional` the time in which one message went each way.
    """

    operation: str
    locality: Locality | None = None
    variant: str = ""
    cache: Literal["warm", "off", ""] = ""
    mapping: str = ""
    other: dict[str, str] = Field(
        default_factory=dict,
        description="what else tells it from its neighbours: source, system, mpi, window …",
    )
    pairs: list[str] = Field(default_factory=list, description="rank pairs measured, pooled into one series")
    eager_limit_B: float | None = Field(default=None, ge=0, description="what the library says of itself")
    breaks_B: list[Annotated[float, Field(ge=0)]] = Field(
        default_factory=list, description="further sizes above which the library does something else"
    )
    oversubscribed: bool | None = None
    fits: dict[str, Fit]
    notes: list[str] = Field(default_factory=list)
    source: str = Field(default="", description="of published models: where they were published")
    measurements: Measurements = Field(default_factory=Measurements)
    level: EntryLevel | None = Field(default=None, description="absent: measured without references")
    other_levels: list[OtherLevel] = Field(default_factory=list, description="the most frequent first")
    any_level: OtherLevel | None = Field(default=None, description="of earlier versions: all that was measured")
    modes: list[EntryModes] = Field(
        default_factory=list, description="at the entry's level, one for each pair that has them"
    )

    @property
    def measured(self) -> Series | None:
        """What the models were fitted to, with the breaks that the library states; None where nothing was."""
        limits = {"eager_limit_B": self.eager_limit_B, "breaks_B": tuple(self.breaks_B)}
        return replace(self.measurements.series, **limits) if self.measurements.points else None  # type: ignore[arg-type]


class LaunchProvenance(_MachineFilePart):
    """Provenance of one launch, or of one imported file."""

    id: str
    time: str = ""
    argv: list[str] = Field(default_factory=list)
    environment: dict[str, str] = Field(default_factory=dict)
    variant: str = ""
    settings: dict[str, str] = Field(default_factory=dict, description="those that differ between launches")
    imported: str = Field(default="", description="file the values were read from")
    tool: str = Field(default="", description="program that wrote that file")
    warnings: list[str] = Field(default_factory=list)


Noise = Literal["quiet", "disturbed", "unusable", ""]
"""The kind of a run, as `machine.marks.noise` has it; "" where nothing says how certain its times are."""


class Provenance(_MachineFilePart):
    """The origin of the measurements, and warnings about them."""

    launches: list[LaunchProvenance] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    noise: Noise = Field(default="", description="how much of it was disturbed, in a word; empty: not known")


class Machine(_MachineFilePart):
    """A machine file, whole."""

    schema_version: Literal[5] = 5
    hockney_version: str
    created: str = Field(description="UTC, ISO 8601")
    system: MeasuredSystem
    mpi: list[MpiLibrary]
    point_to_point: list[Entry]
    effects: list[Effect] = Field(default_factory=list, description="what a ping-pong hides")
    collectives: list[CollectiveModel] = Field(
        default_factory=list, description="models of collectives that were published or fitted"
    )
    topology: str = Field(default="", description="of the network between nodes, as `hockney network` reads it")
    provenance: Provenance


def _faults(machine: Machine) -> Iterator[Fault]:
    """Every field that no fit writes, in the order of the file."""
    for index, entry in enumerate(machine.point_to_point):
        where = f"point_to_point.{index}"
        for name, fit in entry.fits.items():
            yield from fit_faults(fit, f"{where}.fits.{name}")
        measured = entry.measurements
        overheads = {f"overheads.{name}": points for name, points in measured.overheads.items()}
        others = [*entry.other_levels, *filter(None, [entry.any_level])]
        for place, other in enumerate(others):
            for name, fit in other.fits.items():
                yield from fit_faults(fit, f"{where}.other_levels.{place}.fits.{name}")
        at_levels = {f"other_levels.{place}": other.points for place, other in enumerate(others)}
        for name, points in {"points": measured.points, **overheads, **at_levels}.items():
            before_B = -1
            for place, point in enumerate(points):
                if point.size_B <= before_B:
                    what = f"size_B {point.size_B} follows {before_B}, but sizes increase"
                    yield f"{where}.measurements.{name}.{place}", what
                before_B = point.size_B
                if point.low_s is not None and point.high_s is not None and point.low_s > point.high_s:
                    what = f"low_s {point.low_s:g} is above high_s {point.high_s:g}"
                    yield f"{where}.measurements.{name}.{place}", what
    for index, effect in enumerate(machine.effects):
        yield from interval_faults(effect.parameters, f"effects.{index}.parameters")
        for place, row in enumerate(effect.points):
            yield from row_faults(row, f"effects.{index}.points.{place}")
    for index, model in enumerate(machine.collectives):
        yield from interval_faults(model.parameters, f"collectives.{index}.parameters")
        yield from collective_faults(model, f"collectives.{index}")


def save(machine: Machine, path: Path) -> None:
    """Write atomically; RequestError where the folder cannot be written or a file there is no machine file."""
    check_writable(path)
    writing.replace(path, dumps(machine), "choose another place with -o")


def check_writable(path: Path) -> None:
    """RequestError where `path` exists and is no machine file, or its folder does not exist."""
    if path.exists() and not is_machine_file(path):
        raise RequestError(
            f"{path} exists and is not a machine file; it was not changed", "choose another name with -o"
        )
    if not path.parent.is_dir():
        raise RequestError(f"there is no folder {path.parent}", "make it, or choose another place with -o")


def dumps(machine: Machine) -> str:
    """The text of a machine file; `load` of it gives an equal machine, and the same text again.

    A measured point of a collective, of which there may be tens of thousands, is one line.
    """
    data = machine.model_dump(mode="json")
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    # A text inside holds no line break: JSON writes that as \\n.
    return _ROW.sub(lambda row: _BREAK.sub(" ", row[0]).replace("{ ", "{").replace(" }", "}"), text)


def load(path: Path) -> Machine:
    """A file, or a machine that comes with hockney, by its name.

    RequestError where it is absent, damaged, of a newer schema, or no machine file.
    """
    path = located(path)
    return loads(reading.text(path, _restore(path)), path)


def loads(text: str, path: Path) -> Machine:
    """A machine from the text of a machine file; `path` is for the messages. Errors as `load`."""
    data = reading.parsed(text, str(path), _restore(path))
    if not _looks_like_machine(data):
        raise RequestError(f"{path} is not a machine file (no schema_version)", _MAKE_ONE.format(path=path))
    reading.expect_version(data["schema_version"], SCHEMA_VERSION, path)
    # What versions 2 to 4 added may be absent.
    data["schema_version"] = SCHEMA_VERSION
    try:
        machine = Machine.model_validate_json(json.dumps(data))
    except ValidationError as error:
        raise RequestError(f"{path}: {first_problem(error)}", _restore(path)) from error
    wrong = list(_faults(machine))
    if wrong:
        where, what = wrong[0]
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise RequestError(f"{path}: {where}: {what}{more}", _restore(path))
    return machine


_ROW = re.compile(r'\{\n *"ranks": [^{}\[\]"]*"bytes": [^{}\[\]]*\}')
_BREAK = re.compile(r"\n *")


def _restore(path: Path) -> str:
    return f"restore it from a copy, or {_MAKE_ONE.format(path=path)}"


def _looks_like_machine(data: Any) -> bool:
    if not isinstance(data, Mapping):
        return False
    version = data.get("schema_version")
    return type(version) is int and version >= 1 and "hockney_version" in data


def expect_measurements(path: Path) -> Path:
    """The path; RequestError for a machine file: that holds fits, and no measurements."""
    if is_machine_file(path):
        raise RequestError(
            f"{path} is a machine file: it holds fits already",
            f"look at them with `hockney show {path}`, or give the campaign that they were made from",
        )
    return path


def is_machine_file(path: Path) -> bool:
    """Whether the file declares itself a machine file."""
    try:
        return reading.is_file(path) and _looks_like_machine(reading.json_file(path))
    except RequestError:
        return False

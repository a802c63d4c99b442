"""The content of a card: a machine's numbers with intervals, formulas, limits and provenance, as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from pydantic import Field

from hockney.machine.congestion import Congestion, Congestions
from hockney.machine.file import Entry, Machine, MpiLibrary
from hockney.machine.formula import (
    OVERSUBSCRIBED,
    bandwidth,
    half_bandwidth_size,
    interval,
    latency,
    published,
    stated,
)
from hockney.machine.levels import level_remark
from hockney.machine.measured import measured_pair
from hockney.machine.select import UNKNOWN, collective_title, differences, words
from hockney.models.base import Fit, Parameter, preferred_model
from hockney.models.collectives.base import CollectiveModel
from hockney.models.effects.base import Effect
from hockney.models.views import VIEWS, Statement, View, Views
from hockney.records.keys import ENTRIES
from hockney.records.record import LOCALITIES
from hockney.report.curves import LOCALITY_WORDS
from hockney.report.effect_figures import column
from hockney.report.tables import NONE
from hockney.report.views.collective_costs import costs_of
from hockney.report.views.collective_views import views_of_collective
from hockney.report.views.fit_views import views_of
from hockney.units import counted, format_bytes, percent

_PLAIN = {"variant", "mpi", "mapping"}
"""Columns whose values need no name beside them."""
_USUAL = {"default", "warm"}
_TEXTBOOK = (
    ("barrier", "dissemination"),
    ("bcast", "binomial"),
    ("bcast", "scatter_allgather"),
    ("allreduce", "recursive_doubling"),
    ("allreduce", "ring"),
    ("allgather", "ring"),
    ("alltoall", "bruck"),
    ("alltoall", "pairwise"),
)
"""Algorithms that suit small data, and algorithms that suit large data."""
_LOGGP = ("L", "o_s", "o_r", "g", "G")


@dataclass(frozen=True)
class Number:
    """A quantity and its 95 % interval as text (`interval` is empty where there is none)."""

    name: str
    value: str
    interval: str = ""


@dataclass(frozen=True)
class CardFormula:
    """One statement of one view of a model."""

    view: View
    text: str
    latex: str
    where: str


@dataclass
class CardModel:
    """The model of an operation, effect or collective: numbers and formulas."""

    title: str
    numbers: list[Number] = field(default_factory=list)
    formulas: list[CardFormula] = field(default_factory=list)
    as_printed: list[str] = field(default_factory=list)


@dataclass
class CardAnswer:
    """All that the card shows; the first entry of `messages` is the one a reader wants first.

    `card`: the page that it was written to.
    """

    card: str
    title: str
    lead: list[str]
    key: list[Number]
    messages: list[CardModel]
    effects: list[CardModel]
    collectives: list[CardModel]
    closed_forms: list[CardModel]
    limits: list[str]
    provenance: list[str]
    in_place: Annotated[str, Field(exclude=True)] = ""
    """Words for the page that was replaced."""


def content(machine: Machine) -> CardAnswer:
    """Everything in the file, the most important first."""
    entries = sorted(machine.point_to_point, key=_importance)
    congestions = Congestions(machine)
    return CardAnswer(
        card="",
        title=machine.system.name or "A machine",
        lead=_lead(machine),
        key=_key_numbers(entries),
        messages=[_message(entry, entries, congestions.at(entry)) for entry in entries],
        effects=[
            _effect(effect, machine.effects)
            for effect in machine.effects
            if effect.parameters or _stated(effect.views)
        ],
        collectives=[
            CardModel(
                _collective(model, machine.collectives),
                [_number(name, parameter) for name, parameter in model.parameters.items()],
                _formulas(model.views),
                [_printed(statement) for statement in model.as_printed],
            )
            for model in _by_importance(machine.collectives)
        ],
        closed_forms=_closed_forms(machine),
        limits=_limits(machine, entries),
        provenance=_provenance(machine),
    )


def _collective(model: CollectiveModel, among: Sequence[CollectiveModel]) -> str:
    """`bcast, binomial, mapping core`; a published model of the library's own choice is the operation alone."""
    operation, _, words = collective_title(model, among).partition(" — ")
    return operation if words == "the library" else f"{operation}, {words}"


def _by_importance(models: Sequence[CollectiveModel]) -> list[CollectiveModel]:
    """The library's own choices first."""
    return sorted(models, key=lambda model: bool(model.algorithm))


def _printed(statement: Statement) -> str:
    return f"{statement.text} ({statement.where})" if statement.where else statement.text


def fit_of(entry: Entry) -> Fit | None:
    """The fit whose numbers stand for an entry."""
    name = preferred_model(entry.fits)
    return None if name is None else entry.fits[name]


def principal(entries: Sequence[Entry]) -> list[Entry]:
    """The first ping-pong of each locality, in the order of importance."""
    by_locality: dict[str, Entry] = {}
    for entry in sorted(entries, key=_importance):
        if entry.operation == "pingpong" and entry.fits:
            by_locality.setdefault(entry.locality or UNKNOWN, entry)
    return list(by_locality.values())


def label(entry: Entry, among: Sequence[Entry]) -> str:
    """Locality in words, then what distinguishes the entry from the others."""
    telling = differences(among)
    silent = {"operation", "locality", "source", "system"}
    if len({other.variant for other in among}) > 1:
        # The variant implies these.
        silent |= {"transport", "mapping"}
    rest = [
        word if name in _PLAIN else f"{name} {word}"
        for name, word in words(entry).items()
        if word and name in telling and name not in silent and word not in _USUAL
    ]
    where = entry.locality or ""
    return ", ".join([*(["between nodes"] if where == "network" else [f"same {where}"] if where else []), *rest])


def _importance(entry: Entry) -> tuple[int, int, int, int]:
    locality = LOCALITIES.index(entry.locality) if entry.locality in LOCALITIES else len(LOCALITIES)
    return (
        ENTRIES.index(entry.operation) if entry.operation in ENTRIES else len(ENTRIES),
        int(entry.variant not in ("", "default")),
        int(entry.cache == "off"),
        locality,
    )


def _lead(machine: Machine) -> list[str]:
    libraries = ", ".join(library.name or library.library for library in machine.mpi)
    models = dict.fromkeys(host.cpu_model for host in machine.system.hosts if host.cpu_model)
    hosts = len(machine.system.hosts)
    hardware = ", ".join([*models, *([f"{counted(hosts, 'host')} seen"] if hosts > 1 else [])])
    network = f"network: {machine.topology}" if machine.topology else ""
    return [line for line in (libraries, hardware, network) if line]


def _key_numbers(entries: Sequence[Entry]) -> list[Number]:
    """Latency and bandwidth of the nearest and the farthest ranks."""
    nearest_first = principal(entries)
    numbers = []
    for entry in nearest_first if len(nearest_first) < 2 else (nearest_first[0], nearest_first[-1]):
        fit = fit_of(entry)
        if fit is None:
            continue
        where = LOCALITY_WORDS.get(entry.locality or "", "") or "two ranks"
        # A latency and a rate, of the four that stand beside each message.
        numbers += [replace(number, name=f"{number.name}, {where}") for number in _measured(entry, fit)[:2]]
    return numbers


def _message(entry: Entry, entries: Sequence[Entry], congestion: Congestion | None) -> CardModel:
    fit = fit_of(entry)
    name = label(entry, [other for other in entries if other.operation == entry.operation])
    title = f"{entry.operation}, {name}" if name else entry.operation
    if fit is None:
        return CardModel(title)
    half = half_bandwidth_size(entry, fit)
    error = None if fit.quality is None else fit.quality.leave_one_out_median
    numbers = [
        *_measured(entry, fit),
        Number("n½", NONE) if half is None else _number("n½", half),
        Number("left out", NONE if error is None else percent(error)),
    ]
    loggp = entry.fits.get("loggp")
    if loggp is not None:
        numbers += [_number(name, loggp.parameters[name]) for name in _LOGGP if name in loggp.parameters]
    return CardModel(title, numbers, _formulas(views_of(entry, fit, congestion)))


def _measured(entry: Entry, fit: Fit) -> list[Number]:
    """Latency, peak and throughput of the largest message as measured; the model's where nothing was measured."""
    pair = measured_pair(entry)
    if pair.peak is None or pair.largest is None:
        found = {"latency": latency(fit), "bandwidth": bandwidth(entry, fit), "largest message": None}
    else:
        found = {"latency": pair.latency_s, "peak": pair.peak.rate, "largest message": pair.largest.rate}
    return [Number(name, NONE) if one is None else _number(name, one) for name, one in found.items()]


def _closed_forms(machine: Machine) -> list[CardModel]:
    """The leading terms of the textbook's algorithms with the machine's latency and bandwidth put in."""
    costs = costs_of(machine)
    if costs is None:
        return []
    models = []
    for operation, algorithm in _TEXTBOOK:
        for form in views_of_collective(operation, algorithm, costs=costs):
            leading = Views(dominant=form.views.dominant)
            models.append(CardModel(f"{operation}, {algorithm.replace('_', ' ')}", [], _formulas(leading)))
    return models


def _effect(effect: Effect, among: Sequence[Effect]) -> CardModel:
    numbers = [_number(name, parameter) for name, parameter in effect.parameters.items()]
    return CardModel(_effect_title(effect, among), numbers, _formulas(effect.views))


def _effect_title(effect: Effect, among: Sequence[Effect]) -> str:
    alike = [other for other in among if other.effect == effect.effect]
    values = [
        str(getattr(effect, name) or UNKNOWN)
        for name in ("locality", "variant", "mpi", "mapping", "system", "placement")
        if len({getattr(other, name) for other in alike}) > 1
    ]
    return ", ".join([effect.effect, *values])


def _number(name: str, parameter: Parameter) -> Number:
    bounds = interval(parameter)
    return Number(_symbol(name), stated(parameter), "" if bounds == NONE else bounds)


def _symbol(name: str) -> str:
    """`per_entry_s` → `per entry`: the unit stands with the value."""
    words, _ = column(name)
    if name in _LOGGP:
        return name
    return words if len(words) > 3 else words.replace(" ", "_")


def _stated(views: Views) -> bool:
    return any(views.of(view) for view in VIEWS)


def _formulas(views: Views) -> list[CardFormula]:
    return [CardFormula(view, said.text, said.latex, said.where) for view in VIEWS for said in views.of(view)]


def _limits(machine: Machine, entries: Sequence[Entry]) -> list[str]:
    """What a reader must not conclude from the numbers, the most serious first."""
    limits = []
    shared = [label(entry, entries) for entry in entries if entry.oversubscribed]
    if shared:
        limits.append(f"{OVERSUBSCRIBED}: {'; '.join(shared)}")
    sizes = [point.size_B for entry in entries for point in entry.measurements.points]
    if sizes:
        limits.append(
            f"messages from {format_bytes(min(sizes))} to {format_bytes(max(sizes))}: beyond, extrapolated"
        )
    elif entries:
        limits.append("no measured sizes: where the fits end is not known")
    if not _has_intervals(machine):
        limits.append("no intervals: how well any number is known is not said")
    refused: dict[str, list[str]] = {}
    for effect in machine.effects:
        if effect.not_measurable:
            where = "" if effect.locality is None else f" ({effect.locality})"
            refused.setdefault(effect.not_measurable, []).append(f"{effect.effect}{where}")
    limits += [f"not measurable: {', '.join(dict.fromkeys(names))}: {why}" for why, names in refused.items()]
    for effect in machine.effects:
        limits += [
            f"not identified: {effect.effect}, {name}: {why}" for name, why in effect.not_identified.items()
        ]
    for effect in machine.effects:
        limits += [f"{effect.effect}: {note}" for note in effect.notes]
    for model in machine.collectives:
        limits += [f"{_collective(model, machine.collectives)}: {note}" for note in model.notes]
    return list(dict.fromkeys([*limits, *_remarks(entries)]))


def _remarks(entries: Sequence[Entry]) -> list[str]:
    """Notes on entries; a note that holds for some entries begins with their labels."""
    of_note: dict[str, list[str]] = {}
    for entry in entries:
        # Of a fit to what was measured, notes say how it was found: the report has them.
        fit = None if entry.measurements.points else fit_of(entry)
        notes = [level_remark(entry), *entry.notes, *(fit.notes if fit is not None else [])]
        for note in dict.fromkeys(filter(None, notes)):
            of_note.setdefault(note, []).append(label(entry, entries))
    return [
        note if len(whose) == len(entries) else f"{'; '.join(filter(None, whose))}: {note}"
        for note, whose in of_note.items()
    ]


def _has_intervals(machine: Machine) -> bool:
    parameters = [parameter for effect in machine.effects for parameter in effect.parameters.values()]
    parameters += [parameter for model in machine.collectives for parameter in model.parameters.values()]
    parameters += [latency(fit) for entry in machine.point_to_point for fit in entry.fits.values()]
    return any(parameter.low is not None for parameter in parameters)


def _provenance(machine: Machine) -> list[str]:
    sources = [entry.source for entry in machine.point_to_point] + [effect.source for effect in machine.effects]
    sources += [model.source for model in machine.collectives]
    works = [work.partition(",")[0].strip() for source in sources for work in source.split(";")]
    launches = machine.provenance.launches
    lines = [f"hockney {machine.hockney_version}, {machine.created}", *dict.fromkeys(machine.provenance.warnings)]
    if named := [work for work in dict.fromkeys(works) if work]:
        lines.append(published("; ".join(named)))
    if launches:
        times = sorted(launch.time for launch in launches if launch.time)
        when = f", {times[0]} to {times[-1]}" if times else ""
        lines.append(f"{len(launches)} launch{'' if len(launches) == 1 else 'es'}{when}")
    lines += [_library(library) for library in machine.mpi if library.version]
    return lines + _hosts(machine)


def _library(library: MpiLibrary) -> str:
    details = [library.compiler, f"MPI {library.standard}" if library.standard else ""]
    return ": ".join(filter(None, [library.name or library.library, ", ".join(filter(None, details))]))


def _hosts(machine: Machine) -> list[str]:
    kinds = dict.fromkeys(
        (
            host.cpu_model,
            host.cpus,
            host.memory_B,
            tuple((cache.level, cache.type, cache.size_B) for cache in host.caches),
        )
        for host in machine.system.hosts
    )
    descriptions = []
    for model, cpus, memory_B, caches in kinds:
        sizes = [f"L{level} {kind.lower()} {format_bytes(size)}" for level, kind, size in dict.fromkeys(caches)]
        memory = f"{memory_B / 1e9:.0f} GB" if memory_B else ""
        descriptions.append(", ".join(filter(None, [model, f"{cpus} CPUs" if cpus else "", memory, *sizes])))
    return descriptions

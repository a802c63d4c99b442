"""Where the numbers of a machine file are from, and what a reader must know before trusting them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

import numpy as np
import pandas as pd
from pydantic import BaseModel

from hockney.machine.file import (
    Entry,
    Host,
    HostCache,
    HostCpu,
    LaunchProvenance,
    Machine,
    MeasuredSystem,
    MpiLibrary,
)
from hockney.machine.formula import OVERSUBSCRIBED
from hockney.machine.measured import call, marked, marks_of, of_collectives
from hockney.machine.select import titles
from hockney.records.answers import RankPlace
from hockney.records.columns import CONTRADICTION, POINT, SERIES, VISITED
from hockney.records.contents import Contents, modes_in_words
from hockney.records.effect_record import EffectRecord
from hockney.records.journal import HostLine, LaunchLine
from hockney.records.keys import COLLECTIVES
from hockney.records.levels import in_words
from hockney.records.record import Record
from hockney.units import counted, format_bytes, grouped, percent


def system_of(launches: Iterable[LaunchLine], names: Sequence[str]) -> MeasuredSystem:
    """Hosts with the caches and CPUs that their ranks reported; `names` are the systems the records name."""
    hosts: dict[str, Host] = {}
    for launch in launches:
        for line in launch.hosts:
            hosts.setdefault(line.host, Host.model_validate(_said(line, Host)))
        for rank in launch.ranks:
            _add_rank(hosts.setdefault(rank.host, Host(host=rank.host)), rank)
    for host in hosts.values():
        host.topology.sort(key=lambda cpu: cpu.cpu)
        host.caches.sort(key=lambda cache: (cache.level, cache.type, cache.shared))
    return MeasuredSystem(name=", ".join(names), hosts=[hosts[name] for name in sorted(hosts)])


def _said(line: HostLine | RankPlace, kind: type[BaseModel]) -> dict[str, object]:
    """What a line says of the fields of a model."""
    return {
        name: value
        for name in line.model_fields_set & kind.model_fields.keys()
        if (value := getattr(line, name)) is not None
    }


def _add_rank(host: Host, rank: RankPlace) -> None:
    for line in rank.caches:
        cache = HostCache.model_validate(line, from_attributes=True)
        if cache not in host.caches:
            host.caches.append(cache)
    if rank.cpu is not None and all(cpu.cpu != rank.cpu for cpu in host.topology):
        host.topology.append(HostCpu.model_validate(_said(rank, HostCpu)))


def libraries_of(
    launches: Sequence[LaunchLine], records: Iterable[Record | EffectRecord], names: Sequence[str]
) -> list[MpiLibrary]:
    """Every MPI, `name` being the word of the records; of those in `names` without a launch, the name only."""
    words = {record.launch: record.mpi for record in records}
    groups = grouped(
        [launch for launch in launches if launch.mpi],
        lambda launch: tuple(str(launch.mpi.get(name, "")) for name in _MPI_FIELDS),
    )
    libraries = [
        MpiLibrary(
            # A launch that failed has no record to name its MPI.
            name=next(filter(None, (words.get(launch.id) for launch in group)), ""),
            **dict(zip(_MPI_FIELDS, fields, strict=True)),
            settings=_common([launch.settings for launch in group]),
        )
        for fields, group in groups.items()
    ]
    named = {library.name for library in libraries}
    return libraries + [MpiLibrary(name=name) for name in names if name not in named]


_MPI_FIELDS = ("kind", "version", "standard", "library", "wrapper", "launcher", "compiler")


def launches_of(launches: Sequence[LaunchLine], used: set[str]) -> list[LaunchProvenance]:
    """Provenance of the launches in `used`; settings that all of them share stand with the library instead."""
    shared: dict[str, dict[str, str]] = {}
    for launch in launches:
        kind = str(launch.mpi)
        shared[kind] = _common([shared.get(kind, launch.settings), launch.settings])
    own = []
    for launch in launches:
        settings = {name: word for name, word in launch.settings.items() if name not in shared[str(launch.mpi)]}
        own.append(launch.model_copy(update={"settings": settings}))
    return [LaunchProvenance.model_validate(each, from_attributes=True) for each in own if each.id in used]


def _common(settings: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What all have with the same value."""
    return {
        name: value
        for name, value in settings[0].items()
        if all(other.get(name) == value for other in settings[1:])
    }


LAUNCH_SPREAD = 0.05
"""(max − min) / median over launches above which a reader is warned."""
OUT_OF_LINE = 1.5
"""Ratio to the times of both next larger sizes above which a reader is warned."""
HOPELESS = 10.0
"""Half an interval's width, of the value, beyond which its number tells a reader nothing more."""
LEVEL_CHANGE = 1.25
"""Ratio of two visits of one point, beyond their intervals, above which a reader is warned."""


_series, _visited = attrgetter(*SERIES), attrgetter(*VISITED)


def reservations(entries: Sequence[Entry], contents: Contents) -> list[str]:
    """Sentences about the measurements, worst first, then the launches' warnings but those of shared cores."""
    visits = [record for record in contents.records if record.source == "hockney"]
    quiet = [record for record in contents.settled.records if record.source == "hockney"]
    imported = [record for record in contents.records if record.source != "hockney"]
    checks = (
        _unverified(quiet),
        _counted(visits),
        _wide(entries),
        _levels(contents),
        _modes(contents),
        _drift(visits),
        _spread(quiet),
        _bare(entries),
        _out_of_line([record for record, _ in of_collectives(contents)]),
        _without_interval([record.low is None for record in imported if record.operation in COLLECTIVES]),
        _contradictory(_rows(imported), "value"),
        *([] if contents.records or contents.frame.empty else _of_table(contents.frame)),
        marked(marks_of(entries, contents)),
    )
    said = [text for launch in contents.launches for text in launch.warnings]
    return list(dict.fromkeys([*filter(None, checks), *said]))


def warnings_of(machine: Machine) -> list[str]:
    """The warnings of a machine file, then one for every entry measured with more ranks than cores."""
    entries = machine.point_to_point
    shared = [title for entry, title in zip(entries, titles(entries), strict=True) if entry.oversubscribed]
    return [*machine.provenance.warnings, *(f"{title}: {OVERSUBSCRIBED}" for title in shared)]


def half(width: float) -> str:
    """Half an interval's width, of the value; beyond `HOPELESS` the number says no more."""
    return f"±{percent(width)}" if width < HOPELESS else f"over ±{percent(HOPELESS)}"


def _unverified(records: Sequence[Record]) -> str:
    wrong = [record for record in records if record.verified is False]
    unknown = [record for record in records if record.verified is None]
    if wrong:
        return (
            f"The payload was wrong in {len(wrong)} of {counted(len(records), 'record')}. "
            "Do not use these times; report it to the library."
        )
    if unknown:
        return f"The payload of {len(unknown)} of {counted(len(records), 'record')} was not checked."
    return ""


def _counted(visits: Sequence[Record]) -> str:
    """Visits at which disturbed samples count, because too few others were left to set them aside."""
    whole = [visit for visit in visits if visit.samples and (visit.disturbed or 0) > len(visit.disturbed_at)]
    if not whole:
        return ""
    return (
        f"{len(whole)} of {counted(len(visits), 'record')} were too disturbed to clean (first: "
        f"{whole[0].operation}, {format_bytes(whole[0].bytes)}). Their medians use all samples."
    )


def _bare(entries: Sequence[Entry]) -> str:
    points = [point for entry in entries for point in entry.measurements.points]
    # Samples that are all alike have an interval of no width, which is no lack of one.
    bare = sum(p.low_s is None and (p.records or 0) <= 1 and not p.samples for p in points)
    if not bare:
        return ""
    return f"{bare} of {len(points)} points have no interval: their source holds one number a size."


def _wide(entries: Sequence[Entry]) -> str:
    points = [
        (name, point)
        for entry, name in zip(entries, titles(entries), strict=True)
        for point in entry.measurements.points
    ]
    wide = [
        ((point.high_s - point.low_s) / 2 / point.time_s, point.size_B, name)
        for name, point in points
        if "budget" in point.stop and point.low_s is not None and point.high_s is not None
    ]
    if not wide:
        return ""
    width, size_B, where = max(wide)
    return (
        f"{len(wide)} of {len(points)} points ended by their time budget; --budget and --visits narrow them. "
        f"The widest is {half(width)} ({where}, {format_bytes(size_B)})."
    )


def launch_spreads(records: Iterable[Record]) -> dict[tuple[str, ...], float]:
    """(max − min) / median over the launches, for each point measured in at least two of them."""
    values: dict[tuple[str, ...], dict[int, float]] = {}
    for record in records:
        words = (record.operation, record.locality, record.variant, record.cache, record.mapping, record.pair)
        key = (*(str(word or "") for word in words), record.statistic, str(record.bytes))
        values.setdefault(key, {})[record.repetition] = record.value
    return {
        key: float((max(v.values()) - min(v.values())) / np.median(list(v.values())))
        for key, v in values.items()
        if len(v) > 1
    }


def _levels(contents: Contents) -> str:
    """How long the machine was at which level, and which points stand at another than the common one."""
    several = {in_words(levels): None for levels in contents.levels.values() if len(levels) > 1}
    missed, points = (
        len(contents.settled.elsewhere),
        sum(record.samples != [] for record in contents.settled.records),
    )
    others = (
        f"{missed} of {points} points were measured only at another level; --resume measures them again."
        if missed
        else ""
    )
    return f"{' '.join(several)} {others}".strip()


def _modes(contents: Contents) -> str:
    return modes_in_words(contents.modes, len({record.launch for record in contents.records}))


def _drift(visits: Sequence[Record]) -> str:
    """Visits without references whose intervals are far apart: the machine itself changed in between."""
    visits = [record for record in visits if not record.reference_s]
    best: dict[object, Record] = {}
    for record in visits:
        before = best.setdefault(_visited(record), record)
        if record.value < before.value:
            best[_visited(record)] = record
    ratios = [
        record.low / (best[_visited(record)].high or record.low) for record in visits if record.low is not None
    ]
    changed = [ratio for ratio in ratios if ratio > LEVEL_CHANGE]
    if not changed:
        return ""
    return (
        f"The machine changed its speed: {len(changed)} of {len(visits)} visits were slower than the quietest "
        f"visit of their point, by up to {max(changed):.2g} ×. Without references their median counts."
    )


def _without_interval(lacking: Sequence[bool]) -> str:
    """What `_bare` says of messages, of other programs' collectives: whether each lacks its interval."""
    bare = sum(lacking)
    if not bare:
        return ""
    return f"{bare} of {counted(len(lacking), 'record')} of collectives have no interval: their source has none."


def _of_table(frame: pd.DataFrame) -> list[str]:
    """What is said of records, of the collectives of a table, which has none."""
    rows = frame[frame["operation"].isin(COLLECTIVES)]
    if rows.empty:
        return []
    others = rows[rows["source"] != "hockney"] if "source" in rows else rows
    lacking = others["low_s"].isna() if "low_s" in others else pd.Series(True, index=others.index)
    return [_without_interval(lacking.tolist()), _contradictory(rows, "time_s")]


def _rows(records: Iterable[Record]) -> pd.DataFrame:
    return pd.DataFrame([{name: getattr(record, name) for name in (*POINT, "value")} for record in records])


def _contradictory(rows: pd.DataFrame, column: str) -> str:
    """Repetitions of one point in another program's results that are far apart; the worst point is named."""
    if rows.empty:
        return ""
    times = rows.groupby([name for name in POINT if name in rows], dropna=False, sort=False)[column]
    extremes = times.agg(["min", "max"])
    ratio = extremes["max"] / extremes["min"].where(extremes["min"] > 0)
    wild = int((ratio > CONTRADICTION).sum())
    if not wild:
        return ""
    worst = ratio.index.to_frame(index=False).iloc[int(ratio.argmax())].to_dict()
    where = ", ".join(str(worst[name]) for name in ("operation", "algorithm", "mapping") if worst.get(name))
    ranks = "" if pd.isna(worst.get("ranks")) else f" on {int(worst['ranks'])} ranks"
    return (
        f"Repetitions of {wild} of {len(ratio)} points differ by more than {CONTRADICTION:g} ×; their median "
        f"counts. The worst differs by {ratio.max():.3g} × ({where}, {format_bytes(int(worst['bytes']))}{ranks})."
    )


def _out_of_line(records: Sequence[Record]) -> str:
    """Sizes that take much longer than both of the next larger ones: no protocol does that."""
    lonely = []
    for of_series in grouped(records, _series).values():
        ordered = sorted(of_series, key=lambda record: record.bytes)
        triples = zip(ordered, ordered[1:], ordered[2:], strict=False)
        lonely += [
            first for first, *larger in triples if first.value > OUT_OF_LINE * max(r.value for r in larger)
        ]
    if not lonely:
        return ""
    worst = max(lonely, key=lambda record: record.value)
    return (
        f"{len(lonely)} of {len(records)} points of collectives take over {OUT_OF_LINE:g} × the time of the next "
        f"two larger sizes. The slowest is {call(worst)}, {format_bytes(worst.bytes)}."
    )


def _spread(records: Sequence[Record]) -> str:
    spreads = launch_spreads(records)
    if not spreads or float(np.median(list(spreads.values()))) <= LAUNCH_SPREAD:
        return ""
    worst = max(spreads, key=lambda key: spreads[key])
    where = ", ".join(word for word in worst[:6] if word)
    return (
        f"Launches differ by {percent(float(np.median(list(spreads.values()))))} in the median; the intervals "
        f"include it, --launches narrows them. The worst differs by {percent(spreads[worst])} ({where}, "
        f"{format_bytes(int(worst[-1]))})."
    )

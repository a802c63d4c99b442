"""The machine of a campaign or a tidy table: every measured configuration, fitted with every model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from hockney import __version__
from hockney.errors import RequestError
from hockney.machine.effects import effects_of
from hockney.machine.file import Entry, Machine, MeasuredSystem, Measurements, Point, Provenance, at_level
from hockney.machine.levels import add_exponents, add_levels
from hockney.machine.locality import read, systems_of
from hockney.machine.measured import marks_of, noise
from hockney.machine.populations import place_of, populations
from hockney.machine.provenance import launches_of, libraries_of, reservations, system_of
from hockney.models.base import Fit, lack_of, models
from hockney.models.collectives.base import CollectiveModel
from hockney.network.topologies.base import Network
from hockney.records.columns import SERIES
from hockney.records.contents import Contents
from hockney.records.keys import COLLECTIVES, DIRECTIONS, ENTRIES, OVERHEADS, POINT_TO_POINT
from hockney.records.record import LOCALITIES, Record
from hockney.records.series import Caches, Series
from hockney.records.series_of_table import POOLED, pool, series, texts
from hockney.records.statistic import RATES
from hockney.records.table import rows_of
from hockney.statistics import Array
from hockney.units import grouped

_FIXED = tuple(name for name in SERIES if name not in POOLED)
_SHOWN = ("operation", "locality", "variant", "cache", "mapping")

Words = tuple[str, ...]
"""The values of `_FIXED`, as `series` writes them."""


@dataclass(frozen=True)
class _Rows:
    """The one-way rows of an entry: sizes in bytes, samples behind each (NaN: unknown), both of shape (rows,).

    `oversubscribed`: whether any row was, None where no row says.
    """

    size_B: Array
    samples: Array
    oversubscribed: bool | None

    def counts(self) -> dict[int, tuple[int, int | None]]:
        """By size: how many rows there are, and how many samples behind them, None where no row says."""
        sizes, place, counts = np.unique(self.size_B, return_inverse=True, return_counts=True)
        known = ~np.isnan(self.samples)
        saying = np.bincount(place[known], minlength=sizes.size)
        samples = np.bincount(place[known], self.samples[known], minlength=sizes.size)
        return {
            int(size): (int(count), int(total) if says else None)
            for size, count, says, total in zip(sizes, counts, saying, samples, strict=True)
        }


@dataclass(frozen=True)
class _Source:
    """What was measured, by entry: the records (none for a table) and the rows of the table."""

    path: Path
    frame: pd.DataFrame
    records: Mapping[Words, Sequence[Record]]
    rows: Mapping[Words, _Rows]
    elsewhere: frozenset[int] = frozenset()
    """The identities of records that stand at another level than their entry."""
    caches: Caches | None = None
    launches: Sequence[str] = ()
    """Those of all records that stand as columns: these do not say of which entry each is."""


def _source(
    contents: Contents,
    frame: pd.DataFrame,
    records: Sequence[Record],
    elsewhere: Iterable[Record],
    caches: Caches | None,
) -> _Source:
    frame, rows = with_times(frame), _by_words(records)
    launches = () if contents.records else [launch.id for launch in contents.launches]
    return _Source(contents.path, frame, rows, _split(frame), frozenset(map(id, elsewhere)), caches, launches)


def caches_of(system: MeasuredSystem) -> Caches | None:
    """The caches of the hosts; None where they do not say."""
    last, before = [], []
    for host in system.hosts:
        caches = [cache for cache in host.caches if cache.type != "Instruction" and cache.size_B > 0]
        level = max((cache.level for cache in caches), default=0)
        last += [cache.size_B for cache in caches if cache.level == level]
        before += [cache.size_B for cache in caches if cache.level == level - 1]
    return Caches(min(last), min(before, default=None)) if last else None


def _described_caches(contents: Contents) -> Caches | None:
    """The caches of a known system that all was measured on; None where none is, or it does not say."""
    systems = systems_of(contents.frame["system"].unique())
    sizes = [[cache.size_B for cache in system.node.caches] for system in systems.values()]
    return Caches(sizes[0][-1], sizes[0][-2]) if len(sizes) == 1 and len(sizes[0]) > 1 else None


def build(path: Path, progress: Callable[[str], None] = lambda _: None) -> Machine:
    """`fitted` to what a campaign folder or a tidy table (`.csv`, `.csv.gz`, `.parquet`) holds."""
    return fitted(read(path), progress)


def fitted(
    contents: Contents,
    progress: Callable[[str], None] = lambda _: None,
    statistics: Mapping[str, str] | None = None,
    network: Network | None = None,
) -> Machine:
    """Fit every model to every operation × locality × variant × cache × mapping of `contents`.

    `progress` receives the place and the name of each entry before it is fitted. An entry names in `notes` the
    models that cannot be fitted to it, and why. Collectives get a model for each algorithm and placement, of
    their statistic in `statistics` (None: the one that says most). Pairs between nodes are told apart by their
    hops on `network`. RequestError where there is nothing that any model is of.
    """
    answers, launches = contents.effects, contents.launches

    def fit_entries(
        frame: pd.DataFrame, records: Sequence[Record], elsewhere: Iterable[Record] = ()
    ) -> dict[Words, Entry]:
        source = _source(contents, frame, records, elsewhere, caches_of(system) or _described_caches(contents))
        by_words = {}
        groups = _groups(source)
        for place, group in enumerate(groups, 1):
            progress(f"{place:,} of {len(groups):,}: {group[0].name()}")
            by_words[_fixed(group[0])] = _entry(group, source)
        return by_words

    def fit_records(records: Sequence[Record]) -> dict[Words, Entry]:
        timed = [record for record in records if record.operation in POINT_TO_POINT]
        has_transfers = any(record.operation in ENTRIES for record in timed)
        return fit_entries(rows_of(timed, launches), timed) if has_transfers else {}

    frame = with_times(contents.frame)
    system = system_of(
        launches, sorted({*frame["system"].unique(), *(answer.system for answer in answers)} - {""})
    )
    operations, settled = set(frame["operation"].unique()), contents.settled
    has_collectives = bool(operations & set(COLLECTIVES))
    has_entries = bool(operations & set(ENTRIES)) or not (answers or has_collectives)
    by_words = fit_entries(contents.frame, settled.records, settled.elsewhere) if has_entries else {}
    if contents.levels:
        add_levels(by_words, _by_words(settled.records), contents, fit_records)
        add_exponents(by_words, _by_words(contents.records), contents.levels)
    records = _by_words(record for record in settled.records if record.verified is not False)
    entries = list(by_words.values())
    provenance = _provenance(entries, contents)
    if any(len(entry.pairs) > 1 for entry in entries):
        entries += populations(by_words, records, place_of(launches, network), fit_records)
    effects = effects_of(answers, progress) if answers else []
    collectives: list[CollectiveModel] = []
    if has_collectives:
        # Closed forms and their search, which messages do without.
        from hockney.machine.collectives import collectives_of

        collectives = collectives_of(contents, progress, statistics)
    if not (entries or effects or collectives):
        raise _nothing_to_fit(contents.path, frame)
    used = {launch for entry in entries for launch in entry.measurements.launches}
    used |= {launch for effect in effects for launch in effect.launches}
    used |= {record.launch for record in settled.records if record.operation in COLLECTIVES and record.launch}
    used |= {launch.id for launch in launches if has_collectives and not contents.records}
    provenance.launches = launches_of(launches, used)
    return Machine(
        hockney_version=__version__,
        created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        system=system,
        mpi=libraries_of(launches, [*contents.records, *answers], sorted(set(frame["mpi"].unique()) - {""})),
        point_to_point=entries,
        effects=effects,
        collectives=collectives,
        topology=contents.topology,
        provenance=provenance,
    )


def reviewed(contents: Contents) -> tuple[list[Entry], Provenance]:
    """Its entries without fits, and what limits trust in it, as its machine file says it."""
    entries: list[Entry] = []
    if set(contents.frame["operation"].unique()) & set(ENTRIES):
        settled = contents.settled
        source = _source(contents, contents.frame, settled.records, settled.elsewhere, None)
        entries = [_entry(group, source, with_fits=False) for group in _groups(source)]
    return entries, _provenance(entries, contents)


def _provenance(entries: Sequence[Entry], contents: Contents) -> Provenance:
    warnings = dict.fromkeys([*reservations(entries, contents), *contents.warnings])
    return Provenance(warnings=list(warnings), noise=noise(marks_of(entries, contents)))


def with_times(frame: pd.DataFrame) -> pd.DataFrame:
    """`frame` with a row of the time per message for every point of which a program printed only rates.

    OSU and IMB print sums over the pairs, and over both directions of `bidirectional`. Where both rates are
    known the message rate is taken: bandwidths of small messages are printed with few digits.
    """
    rates = frame[frame["statistic"].isin(RATES) & frame["operation"].isin(list(DIRECTIONS))]
    if rates.empty:
        return frame
    whole = frame
    for statistic in reversed(RATES):
        timed = set(_texts(whole[whole["statistic"] == "one_way"], (*SERIES, "bytes")))
        rows = rates[rates["statistic"] == statistic]
        rows = rows[[point not in timed for point in _texts(rows, (*SERIES, "bytes"))]]
        if rows.empty:
            continue
        messages = rows["operation"].map(dict(DIRECTIONS)).astype(float)
        if "pairs" in rows.columns:
            messages *= rows["pairs"].fillna(1).astype(float)
        amount = messages * rows["bytes"] if statistic == "bandwidth_B_per_s" else messages
        added = rows.assign(statistic="one_way", time_s=amount / rows[statistic])
        whole = pd.concat([whole, added], ignore_index=True)
    return whole


def fit_all(measured: Series) -> tuple[dict[str, Fit], list[str]]:
    """Fits by model name, and why the others could not be made."""
    fits: dict[str, Fit] = {}
    notes: list[str] = []
    for name, fit in models:
        if lack := lack_of(name, measured):
            notes.append(f"{name}: {lack}")
            continue
        try:
            fits[name] = fit(measured)
        except RequestError as error:
            notes.append(f"{name}: {error.message}")
    return fits, notes


def _natural(pair: str) -> list[tuple[int, str]]:
    """Ranks as numbers: 2-3 before 10-11."""
    return [(int(rank) if rank.isdigit() else -1, rank) for rank in pair.split("-")]


def _texts(frame: pd.DataFrame, names: Sequence[str]) -> list[Words]:
    """The values of the named columns, row by row, as `series` writes them: text, "" for unknown."""
    return list(zip(*(texts(frame, name) for name in names), strict=True))


def _split(frame: pd.DataFrame) -> dict[Words, _Rows]:
    """The one-way rows of each entry."""
    timed = frame[frame["statistic"] == "one_way"]
    size_B = timed["bytes"].to_numpy(dtype=np.float64)
    unknown = pd.Series(np.nan, timed.index)
    samples = np.asarray(timed.get("samples", unknown), dtype=np.float64)
    shared = timed.get("oversubscribed", unknown)
    says, is_shared = shared.notna().to_numpy(), shared.isin([True]).to_numpy()
    places = grouped(range(len(timed)), _texts(timed, _FIXED).__getitem__)
    return {
        words: _Rows(size_B[at], samples[at], bool(is_shared[at].any()) if says[at].any() else None)
        for words, at in places.items()
    }


def _by_words(records: Iterable[Record]) -> dict[Words, list[Record]]:
    """Records of each entry."""

    def words(record: Record) -> Words:
        values = (getattr(record, name, None) for name in _FIXED)
        return tuple("" if value is None else str(value) for value in values)

    return grouped(records, words)


def _groups(source: _Source) -> list[list[Series]]:
    """The series of every entry; operations in their usual order, then localities, nearest first."""
    measured = {words[_FIXED.index("operation")] for words in source.rows}
    there = [operation for operation in ENTRIES if operation in measured]
    groups = grouped((member for operation in there for member in series(source.frame, operation)), _fixed)
    if not groups:
        raise _nothing_to_fit(source.path, source.frame)
    _check_words(source, "locality", LOCALITIES)
    _check_words(source, "cache", ("warm", "off"))
    nearest = {name: place for place, name in enumerate((*LOCALITIES, ""))}
    return sorted(
        groups.values(),
        key=lambda group: (ENTRIES.index(group[0].key["operation"]), nearest[group[0].key["locality"]]),
    )


def _nothing_to_fit(path: Path, frame: pd.DataFrame) -> RequestError:
    there = ", ".join(sorted(set(frame["operation"]))) or "nothing"
    return RequestError(
        f"{path} holds no times that a model is of",
        f"it holds {there}; a machine file is made from {', '.join(ENTRIES)}, effects, and collectives whose "
        "number of ranks is known",
    )


def _check_words(source: _Source, name: str, known: Sequence[str]) -> None:
    for words in source.rows:
        word = words[_FIXED.index(name)]
        if word and word not in known:
            raise RequestError(
                f"{source.path}: unknown {name} {word!r}",
                f"known: {', '.join(known)}; leave it empty if unknown",
            )


def _fixed(member: Series) -> Words:
    return tuple(member.key[name] for name in _FIXED)


def _entry(group: Sequence[Series], source: _Source, *, with_fits: bool = True) -> Entry:
    words = _fixed(group[0])
    key = dict(zip(_FIXED, words, strict=True))
    pooled = pool(group)
    points = _points(pooled, words, source)
    measured = pooled.take(np.isin(pooled.size_B, [point.size_B for point in at_level(points)]))
    fits, notes = fit_all(measured) if with_fits else ({}, [])
    other = {name: word for name, word in key.items() if name not in _SHOWN and word}
    if other.get("algorithm") == "default":
        del other["algorithm"]
    overheads = {}
    if key["operation"] == "pingpong":
        overheads = {
            name: _points(pooled.related[name], _fixed(group[0].related[name]), source)
            for name in OVERHEADS
            if name in group[0].related
        }
    launches = [record.launch for record in source.records.get(words, []) if record.launch] or source.launches
    # Outside the caches nothing is shared, and between nodes other things move large messages.
    caches = None if key["cache"] == "off" or key["locality"] == "network" else source.caches
    measurements = Measurements(
        campaign=str(source.path),
        launches=list(dict.fromkeys(launches)),
        points=points,
        overheads=overheads,
        last_cache_B=None if caches is None else caches.last_B,
        before_last_cache_B=None if caches is None else caches.before_last_B,
    )
    measurements.series = replace(measured, caches=caches)
    return Entry.model_validate(
        {
            **{name: key[name] for name in _SHOWN},
            "locality": key["locality"] or None,
            "other": other,
            "pairs": sorted({member.key["pair"] for member in group} - {""}, key=_natural),
            "eager_limit_B": pooled.eager_limit_B,
            "breaks_B": list(pooled.breaks_B),
            "oversubscribed": source.rows[words].oversubscribed,
            "fits": fits,
            "notes": notes,
            "measurements": measurements,
        }
    )


def _points(pooled: Series, words: Words, source: _Source) -> list[Point]:
    counts = source.rows[words].counts()
    records = grouped(source.records.get(words, []), lambda record: record.bytes)
    points = []
    freedoms = np.full(pooled.size_B.size, np.nan) if pooled.freedom is None else pooled.freedom
    columns = pooled.size_B, pooled.time_s, pooled.low_s, pooled.high_s, freedoms
    for size, time, low, high, freedom in zip(*columns, strict=True):
        of_size = records.get(int(size), [])
        known = [record.disturbed for record in of_size if record.disturbed is not None]
        count, samples = counts.get(int(size), (0, None))
        points.append(
            Point(
                size_B=int(size),
                time_s=float(time),
                low_s=float(low) if low < high else None,
                high_s=float(high) if low < high else None,
                freedom=None if math.isnan(freedom) else round(float(freedom), 1),
                records=count,
                samples=samples,
                disturbed=sum(known) if known else None,
                stop=sorted({record.stop for record in of_size} - {""}),
                elsewhere=any(id(record) in source.elsewhere for record in of_size),
            )
        )
    return points

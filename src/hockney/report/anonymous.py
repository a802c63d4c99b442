"""A campaign with letters in place of the names of its systems, so that a class can say whose curve is whose."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from hockney.machine.locality import read
from hockney.records.app_record import AppRecord
from hockney.records.contents import Contents
from hockney.records.effect_record import EffectRecord
from hockney.records.journal import LaunchLine
from hockney.records.record import Record

T = TypeVar("T", Record, AppRecord, EffectRecord)
_SHOWN = (
    *("id", "index", "time", "hockney", "variant", "launcher", "mapping", "bind_to", "mpi", "hosts", "nodes"),
    *("ranks", "localities", "oversubscribed", "eager_limit_B", "breaks_B", "tool", "records"),
    "clock_granularity_s",
)
"""Of a launch what names nobody, once its hosts have other names: no command, path, variable or header."""
_MPI = ("kind", "name", "version", "standard")


def unnamed(path: Path) -> tuple[Contents, dict[str, str]]:
    """What a campaign folder or tidy table holds without names, and the letter of each system.

    The letters are in no order of the names. RequestError as `records.contents.read`.
    """
    letters: dict[str, str] = {}

    def of_records(records: list[Record]) -> list[Record]:
        _add(letters, (record.system for record in records))
        return [_lettered(record, letters) for record in records]

    held = read(path, then=of_records)
    of_table = () if held.records else held.frame["system"]
    _add(letters, [*of_table, *(run.system for run in held.apps), *(effect.system for effect in held.effects)])
    names = dict.fromkeys(host for launch in held.launches for host in _hosts(launch))
    hosts = {host: f"host {number}" for number, host in enumerate(names, 1)}
    words = {**letters, **hosts}
    anywhere = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in sorted(words, key=len)[::-1]))
    frame = held.frame
    if not held.records:
        frame = frame.assign(system=frame["system"].map(lambda name: letters.get(name, name)))
    contents = replace(
        held,
        path=Path("campaign"),
        frame=frame,
        apps=[_lettered(run, letters) for run in held.apps],
        effects=[_lettered(effect, letters) for effect in held.effects],
        launches=[_unnamed(launch, hosts) for launch in held.launches],
        warnings=[anywhere.sub(lambda found: words[found[0]], line) if words else line for line in held.warnings],
    )
    return contents, letters


def _add(letters: dict[str, str], names: Iterable[str]) -> None:
    """Letters for the names that have none: A to Z, then A1 and so on."""
    for name in sorted({*names} - {"", *letters}, key=lambda name: hashlib.blake2b(name.encode()).digest()):
        number, letter = divmod(len(letters), 26)
        letters[name] = f"{chr(ord('A') + letter)}{number or ''}"


def _lettered(record: T, letters: Mapping[str, str]) -> T:
    name = record.system
    return record.model_copy(update={"system": letters.get(name, name)})


def _hosts(launch: LaunchLine) -> list[str]:
    ranks = [name for rank in launch.ranks for name in (rank.host, rank.machine)]
    return [name for name in (*(line.host for line in launch.hosts), *ranks) if name]


def _unnamed(launch: LaunchLine, hosts: Mapping[str, str]) -> LaunchLine:
    said = launch.model_dump(exclude_unset=True)
    kept: dict[str, Any] = {name: said[name] for name in _SHOWN if name in said}
    kept["mpi"] = {name: value for name, value in launch.mpi.items() if name in _MPI}
    kept["imported"] = "a file" if launch.imported else ""
    return LaunchLine(**_renamed(kept, hosts))


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """A value of JSON in which each text that is a name is another."""
    if isinstance(value, dict):
        return {key: _renamed(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [_renamed(member, names) for member in value]
    return names.get(value, value) if isinstance(value, str) else value

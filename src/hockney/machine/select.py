"""Which entry of a machine file a question is about: filters, and defaults where the question leaves it open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from hockney.campaign.record import LOCALITIES
from hockney.errors import RequestError
from hockney.machine.file import Entry, Machine

UNKNOWN = "unknown"
"""Word for a locality that the source did not tell."""

_DEFAULTS: Mapping[str, tuple[str, ...]] = {
    "locality": (*LOCALITIES, UNKNOWN),
    "variant": ("default", ""),
    "cache": ("warm", ""),
    "pairs": ("1", ""),
}
"""Preferred words where the question names none, best first."""


def words(entry: Entry) -> dict[str, str]:
    """What identifies an entry, by name: operation, locality, variant, cache, mapping, and the rest."""
    return {
        "operation": entry.operation,
        "locality": entry.locality or UNKNOWN,
        "variant": entry.variant,
        "cache": entry.cache,
        "mapping": entry.mapping,
        **entry.other,
    }


_ALWAYS = ("locality", "variant", "cache")
_SILENT = {"locality": UNKNOWN, "variant": "default"}
"""Words that a title leaves out unless they tell the entry from others."""


def title(entry: Entry, among: Sequence[Entry] = ()) -> str:
    """`pingpong, locality package, variant tcp, cache warm`, and what else tells it from `among`."""
    differing = differences([entry, *among])
    shown = [
        f"{name} {word}"
        for name, word in words(entry).items()
        if word and (name in differing or (name in _ALWAYS and word != _SILENT.get(name))) and name != "operation"
    ]
    return ", ".join([entry.operation, *shown])


def differences(entries: Sequence[Entry]) -> dict[str, list[str]]:
    """By name the words in which these entries differ; "" where an entry has none."""
    names = dict.fromkeys(name for entry in entries for name in words(entry))
    return {name: there for name in names if len(there := _words(entries, name)) > 1}


def matching(machine: Machine, asked: Mapping[str, str | None]) -> list[Entry]:
    """All entries with the words asked for (None: any); RequestError that lists the words there are."""
    entries: Sequence[Entry] = machine.point_to_point
    for name, word in asked.items():
        if word is not None:
            entries = _narrow(entries, name, word)
    return list(entries)


def one(machine: Machine, asked: Mapping[str, str | None]) -> Entry:
    """The one entry a question is about.

    What it leaves open is the nearest locality measured, the default variant, the warm cache and one pair at a
    time. RequestError lists what there is where the answer would still be ambiguous.
    """
    entries = matching(machine, asked)
    for name in dict.fromkeys(name for entry in entries for name in words(entry)):
        there = _words(entries, name)
        best = next((word for word in _DEFAULTS.get(name, ()) if word in there), None)
        if best is not None:
            entries = _narrow(entries, name, best)
    if len(entries) > 1:
        raise _ambiguous(entries)
    return entries[0]


def parse_where(conditions: Sequence[str]) -> dict[str, str]:
    """`["window=64"]` → `{"window": "64"}`; RequestError for anything else."""
    asked = {}
    for condition in conditions:
        name, equals, word = condition.partition("=")
        if not equals or not name:
            raise RequestError(f"{condition!r} is not a condition", "write for example --where mapping=core")
        asked[name] = word
    return asked


def _words(entries: Sequence[Entry], name: str) -> list[str]:
    """The different words of that name, localities nearest first."""
    there = {words(entry).get(name, "") for entry in entries}
    if name == "locality":
        return [word for word in _DEFAULTS["locality"] if word in there]
    return sorted(there)


def _narrow(entries: Sequence[Entry], name: str, word: str) -> list[Entry]:
    kept = [entry for entry in entries if words(entry).get(name, "") == word]
    if kept:
        return kept
    there = _words(entries, name)
    near = get_close_matches(word, there, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    known = ", ".join(word or "(empty)" for word in there) or "none"
    if name == "operation":
        raise RequestError(f"no operation {word!r} in the machine file", f"{hint}known: {known}")
    of = {entry.operation for entry in entries}
    what = f"{of.pop()} was not measured" if len(of) == 1 else "nothing was measured"
    raise RequestError(f"{what} with {name} {word!r}", f"{hint}measured: {known}")


def _ambiguous(entries: Sequence[Entry]) -> RequestError:
    differing = differences(entries)
    choices = "; ".join(
        f"{name}: {', '.join(word or '(empty)' for word in there)}" for name, there in differing.items()
    )
    options = " and ".join(f"--{name} WORD" if name in _ALWAYS else f"--where {name}=WORD" for name in differing)
    return RequestError(
        f"{len(entries)} measured configurations answer this question ({choices})",
        f"choose one with {options}",
    )

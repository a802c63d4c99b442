"""Selection of an entry of a machine file by filters, with defaults for those that are not given."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TypeVar

from hockney.errors import RequestError
from hockney.machine.file import Entry, Machine
from hockney.models.collectives.base import CollectiveModel
from hockney.models.effects.base import Effect
from hockney.records.record import LOCALITIES
from hockney.registry import did_you_mean

Selected = TypeVar("Selected", bound=Entry | Effect)
HOPS = "hops"
"""The effect that is what each link on the way adds, and the word for how many links messages crossed."""
UNKNOWN = "unknown"
"""Word for a locality that the source does not name."""

_DEFAULTS: Mapping[str, tuple[str, ...]] = {
    "locality": (*LOCALITIES, UNKNOWN),
    "variant": ("default", ""),
    "cache": ("warm", ""),
    "pairs": ("1", ""),
    "hops": ("",),
    "package": ("",),
}
"""Preferred words without a filter, best first."""


def words(entry: Entry | Effect) -> dict[str, str]:
    """What identifies an entry, by name: operation, locality, variant, cache, mapping, and the rest.

    Of an effect, its name is the operation.
    """
    if isinstance(entry, Effect):
        named = {name: str(getattr(entry, name)) for name in ("variant", "mapping", "mpi", "system", "placement")}
        return {"operation": entry.effect, "locality": entry.locality or UNKNOWN, **named}
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
"""Words that a title leaves out unless they distinguish the entry from others."""


def title(entry: Entry | Effect, among: Sequence[Entry | Effect] = ()) -> str:
    """`pingpong, locality package, variant tcp, cache warm`, and what else distinguishes it from `among`."""
    return _titled(entry, differences([entry, *among]))


def titles(entries: Sequence[Entry | Effect]) -> list[str]:
    """The title of each among all of them; of many at once, as each takes a look at all."""
    differing = differences(entries)
    return [_titled(entry, differing) for entry in entries]


def _titled(entry: Entry | Effect, differing: Container[str]) -> str:
    shown = [
        f"{name} {word}"
        for name, word in words(entry).items()
        if word and (name in differing or (name in _ALWAYS and word != _SILENT.get(name))) and name != "operation"
    ]
    return ", ".join([words(entry)["operation"], *shown])


def differences(entries: Sequence[Entry | Effect]) -> dict[str, list[str]]:
    """Words in which these entries differ, by name; "" where an entry has none."""
    names = dict.fromkeys(name for entry in entries for name in words(entry))
    return {name: values for name in names if len(values := _words(entries, name)) > 1}


def collective_words(model: CollectiveModel) -> dict[str, str]:
    """What identifies a model of a collective, by name: operation, algorithm, mapping, and the rest."""
    named = {"operation": model.operation, "algorithm": model.name, "mapping": model.mapping}
    return {**named, **model.other}


def collective_title(model: CollectiveModel, among: Sequence[CollectiveModel] = ()) -> str:
    """`bcast — binomial, mapping core`: its algorithm, and what else distinguishes it from `among`."""
    own = collective_words(model)
    alike = [words for other in among if (words := collective_words(other))["operation"] == own["operation"]]
    shown = [
        f"{name} {word}"
        for name, word in own.items()
        if word and name not in ("operation", "algorithm") and len({other.get(name, "") for other in alike}) > 1
    ]
    return f"{model.operation} — {', '.join([model.name or 'the library', *shown])}"


def matching(machine: Machine, filters: Mapping[str, str | None]) -> list[Entry]:
    """All entries that pass the filters (None: any word); RequestError lists the words there are."""
    entries: Sequence[Entry] = machine.point_to_point
    for name, word in filters.items():
        if word is not None:
            entries = _narrow(entries, name, word)
    return list(entries)


def select_entry(machine: Machine, filters: Mapping[str, str | None]) -> Entry:
    """The one entry that the filters select.

    Without filters: the nearest locality measured, the default variant, the warm cache and one pair at a time.
    RequestError lists the choices where several entries remain.
    """
    return _best(matching(machine, filters))


def select_effect(machine: Machine, name: str, filters: Mapping[str, str | None]) -> Effect:
    """The one effect of that name that the filters select, with the defaults of `select_entry`.

    RequestError as `select_entry`. Where no effect has the name, the error says how to measure it. Where no
    selected effect has points, it says why.
    """
    effects: Sequence[Effect] = [each for each in machine.effects if each.effect == name]
    if not effects:
        raise RequestError(
            f"{name} was not measured on this machine",
            f"measure it: `hockney measure --operation {name} -o FOLDER`, then `hockney fit FOLDER`",
        )
    for key, word in filters.items():
        if word is not None:
            effects = _narrow(effects, key, word)
    with_points = [each for each in effects if each.points]
    if not with_points:
        # Where there are parameters, the notes are of a model whose points the file lacks: no reason.
        whys = [each.not_measurable for each in effects]
        whys += [
            why for each in effects if not each.parameters for why in (*each.not_identified.values(), *each.notes)
        ]
        why = "; ".join(dict.fromkeys(filter(None, whys))) or "its points are not in the machine file"
        raise RequestError(
            f"{title(effects[0])} has no measurements: {why}",
            f"measure it elsewhere: `hockney measure --operation {name} -o FOLDER`",
        )
    return _best(with_points)


def effects_under(machine: Machine, name: str, entry: Entry) -> list[Effect]:
    """Effects of that name that do not contradict the entry, those with parameters first."""
    where = words(entry)

    def agrees(effect: Effect) -> bool:
        of_effect = words(effect)
        pairs = ((of_effect.get(key), where.get(key)) for key in ("locality", "variant", "mpi", "mapping"))
        return all(not a or not b or a == b or a == "unknown" for a, b in pairs)

    effects = [effect for effect in machine.effects if effect.effect == name and agrees(effect)]
    return sorted(effects, key=lambda effect: not (effect.parameters or effect.points))


def preferred(entries: Sequence[Selected]) -> list[Selected]:
    """The entries that the defaults of `select_entry` leave."""
    for name in dict.fromkeys(name for entry in entries for name in words(entry)):
        values = _words(entries, name)
        best = next((word for word in _DEFAULTS.get(name, ()) if word in values), None)
        if best is not None:
            entries = _narrow(entries, name, best)
    return list(entries)


def _best(entries: Sequence[Selected]) -> Selected:
    entries = preferred(entries)
    if len(entries) > 1:
        raise _ambiguous(entries)
    return entries[0]


def parse_where(conditions: Sequence[str]) -> dict[str, str]:
    """`["window=64"]` → `{"window": "64"}`; RequestError for anything else."""
    filters = {}
    for condition in conditions:
        name, equals, word = condition.partition("=")
        if not equals or not name:
            raise RequestError(f"{condition!r} is not a condition", "write for example --where mapping=core")
        filters[name] = word
    return filters


def expect_names(conditions: Iterable[str], known: Iterable[str]) -> None:
    """RequestError for a condition on what nothing has; without anything known there is nothing to compare."""
    names = sorted(set(known))
    for name in conditions:
        if names and name not in names:
            raise RequestError(
                f"nothing was measured by {name!r}", f"{did_you_mean(name, names)}known: {', '.join(names)}"
            )


def _words(entries: Sequence[Entry | Effect], name: str) -> list[str]:
    """The different words of that name, localities nearest first."""
    values = {words(entry).get(name, "") for entry in entries}
    if name == "locality":
        return [word for word in _DEFAULTS["locality"] if word in values]
    return sorted(values)


def _narrow(entries: Sequence[Selected], name: str, word: str) -> list[Selected]:
    kept = [entry for entry in entries if words(entry).get(name, "") == word]
    if kept:
        return kept
    values = _words(entries, name)
    hint = did_you_mean(word, values)
    known = ", ".join(word or "(empty)" for word in values) or "none"
    if name == "operation":
        raise RequestError(f"no operation {word!r} in the machine file", f"{hint}known: {known}")
    of = {words(entry)["operation"] for entry in entries}
    what = f"{of.pop()} was not measured" if len(of) == 1 else "nothing was measured"
    raise RequestError(f"{what} with {name} {word!r}", f"{hint}measured: {known}")


def _ambiguous(entries: Sequence[Entry | Effect]) -> RequestError:
    differing = differences(entries)
    choices = "; ".join(
        f"{name}: {', '.join(word or '(empty)' for word in values)}" for name, values in differing.items()
    )
    options = " and ".join(
        f"--{name} WORD" if name == "locality" else f"--where {name}=WORD" for name in differing
    )
    return RequestError(
        f"{len(entries)} measured configurations answer this question ({choices})",
        f"choose one with {options}",
    )

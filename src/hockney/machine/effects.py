"""Models of effects from the answers, for each effect, MPI, variant, mapping and locality."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hockney.errors import RequestError
from hockney.models.effects.base import Effect, EffectModel, effect_models
from hockney.records.effect_record import EffectRecord
from hockney.records.record import LOCALITIES

_Key = tuple[str, ...]


def effects_of(records: Sequence[EffectRecord], progress: Callable[[str], None] = lambda _: None) -> list[Effect]:
    """Models of every group of records; `notes` give the reason where a model cannot be fitted.

    An effect that this version does not know (a newer one measured it) is kept with a note, without a model.
    """
    groups: dict[_Key, list[EffectRecord]] = {}
    for record in records:
        groups.setdefault(_key(record), []).append(record)
    effects = []
    for key, group in sorted(groups.items(), key=lambda item: _order(item[0])):
        progress(f"effect {key[0]}")
        effects += _models(group)
    return effects


def _key(record: EffectRecord) -> _Key:
    place = tuple(str(value) for value in (record.ranks, record.nodes, record.ppn, record.oversubscribed))
    return (
        *(record.effect, record.locality or "", record.mpi, record.variant, record.mapping, record.system),
        *place,
    )


def _placement(record: EffectRecord) -> str:
    """`8 ranks on 2 nodes`, as it was launched; empty where it is not known."""
    if record.ranks is None or record.nodes is None:
        return ""
    return f"{record.ranks} ranks on {record.nodes} {'node' if record.nodes == 1 else 'nodes'}"


def _order(key: _Key) -> tuple[str, int, _Key]:
    known: Sequence[str] = LOCALITIES
    return key[0], known.index(key[1]) if key[1] in known else len(known), key


def _models(records: Sequence[EffectRecord]) -> list[Effect]:
    """What every model of the effect makes of one group of records; one entry where there is nothing to fit."""
    first = records[0]
    answered = [record for record in records if record.answer]
    identity: dict[str, Any] = {
        "locality": first.locality,
        "variant": first.variant,
        "mpi": first.mpi,
        "mapping": first.mapping,
        "system": first.system,
        "placement": _placement(first),
        "ranks": max((len(record.members) for record in answered), default=None),
        "oversubscribed": any(record.oversubscribed for record in records),
        "launches": list(dict.fromkeys(record.launch for record in records)),
    }
    whys = list(dict.fromkeys(record.not_measurable for record in records if record.not_measurable))
    refused = list(dict.fromkeys(f"refused: {record.refused}" for record in records if record.refused))
    if not answered:
        return [Effect(effect=first.effect, **identity, not_measurable="; ".join(whys), notes=refused)]
    models = effect_models.of(first.effect)
    if not models:
        unknown = "this version of hockney has no model of this effect"
        return [Effect(effect=first.effect, **identity, notes=[unknown])]
    return [_fitted(name, model, answered, identity, whys, refused) for name, model in models.items()]


def _fitted(
    name: str,
    model: EffectModel,
    answered: Sequence[EffectRecord],
    identity: Mapping[str, Any],
    whys: Sequence[str],
    refused: Sequence[str],
) -> Effect:
    try:
        fitted = model(answered)
    except RequestError as error:
        return Effect(effect=name, **identity, notes=[f"no model: {error.message}", *refused])
    return fitted.model_copy(update={**identity, "effect": name, "notes": [*fitted.notes, *whys, *refused]})

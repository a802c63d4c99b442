"""Models of effects from the answers, for each effect, MPI, variant, mapping and locality."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hockney.errors import RequestError
from hockney.models.effects.base import Effect, effect_models
from hockney.records.effect_record import EffectRecord
from hockney.records.record import LOCALITIES
from hockney.units import counted, grouped

_Key = tuple[str, ...]


def effects_of(records: Sequence[EffectRecord], progress: Callable[[str], None] = lambda _: None) -> list[Effect]:
    """Models of every group of records; `notes` give the reason where a model cannot be fitted.

    An effect that this version does not know (a newer one measured it) is kept with a note, without a model.
    """
    effects = []
    for key, group in sorted(grouped(records, _key).items(), key=lambda item: _order(item[0])):
        progress(f"effect {key[0]}")
        effects += [_identified(effect, group) for effect in _models(group)]
    return effects


def _key(record: EffectRecord) -> _Key:
    place = tuple(str(value) for value in (record.ranks, record.nodes, record.ppn, record.oversubscribed))
    return (
        *(record.effect, record.locality or "", record.mpi, record.variant, record.mapping, record.system),
        *place,
    )


def _order(key: _Key) -> tuple[str, int, _Key]:
    known: Sequence[str] = LOCALITIES
    return key[0], known.index(key[1]) if key[1] in known else len(known), key


def _models(records: Sequence[EffectRecord]) -> list[Effect]:
    """What every model of the effect makes of one group of records; one entry where there is nothing to fit."""
    name, answered = records[0].effect, [record for record in records if record.answer]
    whys = list(dict.fromkeys(record.not_measurable for record in records if record.not_measurable))
    refused = list(dict.fromkeys(f"refused: {record.refused}" for record in records if record.refused))
    if not answered:
        return [Effect(effect=name, not_measurable="; ".join(whys), notes=refused)]
    effects = []
    for model in effect_models.of(name):
        try:
            effects.append(model(answered))
            effects[-1].notes += [*whys, *refused]
        except RequestError as error:
            effects.append(Effect(effect=model.name, notes=[f"no model: {error.message}", *refused]))
    return effects or [Effect(effect=name, notes=["this version of hockney has no model of this effect"])]


def _identified(effect: Effect, records: Sequence[EffectRecord]) -> Effect:
    """The effect with what its records have in common."""
    first = records[0]
    effect.locality, effect.variant, effect.mpi = first.locality, first.variant, first.mpi
    effect.mapping, effect.system = first.mapping, first.system
    if first.ranks is not None and first.nodes is not None:
        effect.placement = f"{counted(first.ranks, 'rank')} on {counted(first.nodes, 'node')}"
    effect.ranks = max((len(record.members) for record in records if record.answer), default=None)
    effect.oversubscribed = any(record.oversubscribed for record in records)
    effect.launches = list(dict.fromkeys(record.launch for record in records))
    return effect

"""Answers of the runner in tests: as words, and with other words."""

from __future__ import annotations

from typing import Any, TypeVar

from tests.factories import not_none

from hockney.records.app_record import AppRecord
from hockney.records.effect_record import EffectRecord

AnyRecord = TypeVar("AnyRecord", AppRecord, EffectRecord)


def words_of(record: AppRecord | EffectRecord) -> dict[str, Any]:
    """What the runner said."""
    return not_none(record.answer).model_dump()


def answering(record: AnyRecord, **words: Any) -> AnyRecord:
    """The same record with these words in its answer."""
    return type(record).model_validate(record.model_dump() | {"answer": words_of(record) | words})

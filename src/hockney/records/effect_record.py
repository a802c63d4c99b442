"""One answer about an effect as it is stored: a line of `effects.jsonl`, read back by the models of effects."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from hockney.records.answers import Answer, AnswerType
from hockney.records.effect_answers import answer_type
from hockney.records.record import Circumstances, Count, Locality, NotNegative, Value, Whole


class AboutCache(BaseModel):
    """A level of the caches that all ranks have."""

    level: Whole
    size_B: Count


class About(BaseModel):
    """What models read of `about`."""

    eager_limit_B: dict[str, NotNegative | None] = {}
    simulated: bool = False
    caches: list[AboutCache] = []


class EffectRecord(Circumstances):
    """One question to the runner about an effect (overlap, matching, …) and its answer, SI units.

    `not_measurable` says why nothing was asked, `refused` why the runner declined; neither has an answer. The
    keys of `parameters` are those of cpp/runner/effects/<effect>.cpp; `answer` is of the effect's own type
    (`hockney.records.effect_answers`), or an open `Answer` where this version does not know the effect.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    effect: str = Field(description="synchronisation, overlap, matching, …")
    locality: Locality | None = Field(
        default=None, description="of the pairs that communicate, where they have one"
    )
    members: list[Whole] = Field(
        default_factory=list, description="ranks that took part, in the order of the request"
    )
    parameters: dict[str, Value] = Field(
        default_factory=dict, description="what was asked, by key of the request"
    )
    answer: Answer | None = None
    not_measurable: str = ""
    refused: str = ""
    about: dict[str, Value] = Field(
        default_factory=dict, description="what else a model must know: eager_limit_B, cores, simulated …"
    )
    ranks: Whole | None = Field(default=None, description="of the launch")
    repetition: Whole = Field(default=0, description="launch, from 0")

    @field_validator("answer", mode="before")
    @classmethod
    def _of_its_kind(cls, said: object, record: ValidationInfo) -> object:
        kind = answer_type(record.data.get("effect", ""))
        return said if said is None or isinstance(said, Answer) else kind.model_validate(said)

    @model_validator(mode="after")
    def _question_is_whole(self) -> Self:
        if self.answer is not None:
            type(self.answer).ASKED.model_validate(self.parameters)
        About.model_validate(self.about)
        return self


def answered(record: EffectRecord, kind: type[AnswerType]) -> AnswerType:
    """The record's answer read as `kind`; ValueError where there is none, or where it lacks what `kind` needs."""
    if record.answer is None:
        raise ValueError(f"nothing was answered about {record.effect}")
    return record.answer.read_as(kind)

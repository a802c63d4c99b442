"""The answers of `hockney scaling`."""

from __future__ import annotations

from hockney.api.answers.base import answer
from hockney.models.scaling.laws import LawAnswer
from hockney.models.scaling.study import ScalingStudies, StudyOfFile

answer("scaling amdahl", "scaling gustafson", "scaling usl")(LawAnswer)
answer("scaling fit")(StudyOfFile | ScalingStudies)

"""The answer of `hockney evaluate`: of messages, of a collective, or of rings."""

from __future__ import annotations

from hockney.api.answers.base import answer
from hockney.apps.ring.fit import RingsEvaluation
from hockney.models._evaluate import MessagesEvaluation
from hockney.predict.evaluate import CollectiveEvaluation

answer("evaluate")(MessagesEvaluation | CollectiveEvaluation | RingsEvaluation)

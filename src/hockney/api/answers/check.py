"""The answer of `hockney check`."""

from __future__ import annotations

from hockney.api.answers.base import answer
from hockney.check.answer import CheckAnswer

answer("check")(CheckAnswer)

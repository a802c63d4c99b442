"""The answer of `hockney identify`."""

from __future__ import annotations

from hockney.api.answers.base import answer
from hockney.predict.identified import IdentifyAnswer

answer("identify")(IdentifyAnswer)

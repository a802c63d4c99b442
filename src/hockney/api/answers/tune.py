"""The answers of `hockney tune`, `apply` and `profile`."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from hockney.api.answers.base import answer
from hockney.runner.applied import Applied
from hockney.tune.tuned import TuneAnswer

answer("apply")(Applied)


answer("tune")(TuneAnswer)


@answer("profile")
class ProfileAnswer(TypedDict):
    """What a program communicated (docs/reference/profile.md); null where nothing was seen."""

    exit_code: int
    warnings: list[str]
    output: str | None
    profile: dict[str, Any] | None

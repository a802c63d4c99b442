"""The answers of `hockney tune`, `apply` and `profile`."""

from __future__ import annotations

from hockney.api.answers.base import answer
from hockney.api.profiled import ProfiledRun
from hockney.runner.applied import Applied
from hockney.tune.tuned import TuneAnswer

answer("apply")(Applied)
answer("profile")(ProfiledRun)
answer("tune")(TuneAnswer)

"""`hockney run pong`: a message there and back between two ranks."""

from __future__ import annotations

from hockney.apps.launched import Launched, Runs, Told, records
from hockney.apps.pong.app import PongStudy
from hockney.apps.repetitions import repetitions
from hockney.campaign.loop import Asking
from hockney.campaign.plan import AppLaunching
from hockney.records.app_record import AppRecord

USUAL_B = 1024


def run(told: Told, study: PongStudy, launching: AppLaunching) -> Runs:
    """Each size on two ranks."""

    def ask(launched: Launched) -> Asking[AppRecord]:
        for size_B in study.sizes_B or [USUAL_B]:
            yield launched.request("pong", {"bytes": size_B, **repetitions(study.repetitions)})

    return Runs(records(told, ask, launching.model_copy(update={"ranks": 2})))

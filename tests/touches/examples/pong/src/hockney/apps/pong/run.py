"""`hockney run pong`: a message there and back between two ranks."""

from __future__ import annotations

from typing import Annotated

from hockney.apps.launched import Repetitions
from hockney.apps.run import run, run_app
from hockney.campaign.plan import AppLaunching
from hockney.predict.options import Sizes
from hockney.terminal import JsonOption, answer_no, say, verb
from hockney.terminal.loading import later
from hockney.terminal.options import Without
from hockney.units import format_bytes, format_time

with later():
    from hockney.apps.launched import Launched, repetitions
    from hockney.apps.pong.answer import PongAnswer
    from hockney.campaign.loop import Asking
    from hockney.records.app_record import AppRecord

USUAL_B = 1024


class PongStudy(Sizes):
    """Which messages are sent, and how often."""

    repetitions: Repetitions = None


@verb("pong", examples="hockney run pong --bytes 8 --bytes 1MiB", of=run)
def pong(
    study: PongStudy, launching: Annotated[AppLaunching, Without("ranks")], json: JsonOption = False
) -> None:
    """A message from one rank to another and back; both check what they receive."""

    def ask(launched: Launched) -> Asking[AppRecord]:
        for size_B in study.sizes_B or [USUAL_B]:
            yield launched.request("pong", {"bytes": size_B, **repetitions(study.repetitions)})

    records = run_app(ask, launching.model_copy(update={"ranks": 2}))
    if json:
        say.json({"runs": [record.model_dump() for record in records]})
    else:
        for record in records:
            say.line(f"{format_bytes(record.parameters['bytes'])} there and back: {format_time(record.time_s)}")
    if any(record.answer.read_as(PongAnswer).wrong_messages for record in records):
        answer_no("a message did not arrive as it was sent", "do not use this MPI", as_json=json)

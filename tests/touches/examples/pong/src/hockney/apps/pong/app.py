"""Pong: a message there and back. What it is asked and answers, and the words of its page."""

from __future__ import annotations

from typing import Annotated

from hockney.apps.repetitions import Repetitions
from hockney.campaign.plan import AppLaunching
from hockney.fields import Option, Without
from hockney.predict.options import MachineFile, Sizes
from hockney.records.answers import Answer
from hockney.report.application import App, Question, apps

FORMULA = "T = 2 (α + n β)"


class PongAnswer(Answer):
    """How many messages, of all that either rank received, were not what the other sent."""

    wrong_messages: int


class PongStudy(Sizes):
    """Which messages are sent, and how often."""

    repetitions: Repetitions = None


class PongCase(MachineFile, Sizes):
    """Which messages are predicted."""

    locality: Annotated[str | None, Option("Of the two ranks. [default: the nearest measured]")] = None


APP = App(
    name="pong",
    title="Pong",
    meaning="A message goes from one rank to another and back; both check what they receive.",
    run=Question(
        "A message from one rank to another and back; both check what they receive.",
        "hockney run pong --bytes 8 --bytes 1MiB",
        {"study": PongStudy, "launching": Annotated[AppLaunching, Without("ranks")]},
    ),
    predict=Question(
        "The time of `hockney run pong` from the latency and the bandwidth of a machine file.",
        "hockney predict pong --bytes 8 --bytes 1MiB --machine machine.json",
        {"case": PongCase},
    ),
    unit="a message there and back",
    rate="MB/s",
    about_prediction=f"{FORMULA}, with α and β of a ping-pong between the same places.",
)

apps.register("pong")(APP)

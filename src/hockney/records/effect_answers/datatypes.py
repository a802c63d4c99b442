"""What the runner answers about datatypes."""

from __future__ import annotations

from hockney.records.answers import Timed
from hockney.records.effect_answers.base import effect_answers
from hockney.records.record import Whole


class DatatypesAnswer(Timed):
    """A message of scattered data, and what the runner counted in its layout: blocks, and cache lines of 64 B.

    `accesses`: pairs of a block and a line that it touches. `rounds`: messages in a sample.
    """

    bytes: Whole
    blocks: Whole
    lines: Whole
    accesses: Whole
    extent_B: Whole
    rounds: Whole = 1


effect_answers.register("datatypes")(DatatypesAnswer)

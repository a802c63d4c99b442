"""The options of `hockney predict fft`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from hockney.fields import Option
from hockney.predict.verb import MachineFile, MessageCosts, NetworkOptions, OnTopology
from hockney.schedule.catalogue import algorithm_names
from hockney.words import wholes

MOST_RANKS = 2**24


def _ranks(text: str) -> list[int]:
    """`256-65536`: the powers of two in it, and its ends; or a list."""
    numbers = []
    for word in text.split(","):
        low, dash, high = word.partition("-")
        allowed = range(1, MOST_RANKS + 1)
        if not dash:
            numbers += wholes(word, allowed)
            continue
        (first,), (last,) = wholes(low, allowed), wholes(high, allowed)
        powers = (1 << exponent for exponent in range(MOST_RANKS.bit_length()))
        numbers += [first, *(power for power in powers if first < power < last), last]
    return sorted(set(numbers))


class FftCase(OnTopology, NetworkOptions, MachineFile):
    """Which FFT is divided, on how many ranks, and what messages cost there."""

    size: Annotated[int, Option("Numbers along each side of the cube, complex and of double precision.")]
    ranks: Annotated[
        list[int],
        Option("64,100 or 256-65536: of a range its ends and the powers of two between them.", read=_ranks),
    ]
    algorithm: Annotated[
        str, Option("Of the all-to-alls; best: the fastest of each.", known=lambda: ("best", *algorithm_names()))
    ] = "best"
    ppn: Annotated[int | None, Option("With --topology: the most.")] = None
    where: Annotated[list[str], Option("variant, mpi, mapping, system, pairs.")] = Field(default_factory=list)

    @property
    def costs(self) -> MessageCosts:
        """Where costs of messages come from."""
        known = {name: getattr(self, name) for name in MessageCosts.model_fields if hasattr(self, name)}
        return MessageCosts(**known).holding(self._held)

"""How an effect is measured: its file asks the runner question after question, guided by the answers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field

from hockney.records.answers import Answer, RankPlace
from hockney.records.keys import CollectiveKey
from hockney.records.record import LOCALITIES, Locality
from hockney.registry import Registry

ONCE = {"repetitions": 1, "least_samples": 1, "budget_s": 1.0, "tolerance": 1.0}
"""How a simulation is timed: it repeats itself."""
NO_BYTES = "a message without bytes has no bandwidth and no layout: measure with a larger --largest or --bytes"
"""Why an effect cannot be measured where the largest message is empty."""

Request = dict[str, float | str]
"""What is asked, by the keys of cpp/runner/effects/<effect>.cpp."""


@dataclass(frozen=True)
class Question:
    """One request to the runner: its members in order, and the keys of cpp/runner/effects/<effect>.cpp."""

    members: Sequence[int]
    parameters: Mapping[str, float | str]
    locality: Locality | None = None


@dataclass(frozen=True)
class NotMeasurable:
    """Why the effect, or its part at one locality, cannot be measured here; recorded as such, never guessed."""

    why: str
    locality: Locality | None = None


@dataclass(frozen=True)
class Here:
    """What a launch offers for the measurement of an effect.

    `pairs`: (locality, a, b) of one pair for each locality that the placement has, nearest first. `localities`:
    of the pairs that are looked at, lower rank first. `ranks`: the placement that the runner reports, by rank.
    `eager_limit_B`: what the library says of itself, by channel (`shared_memory`, `network`). `oversubscribed`:
    why ranks share cores, empty where they do not. `simulated`: no computation takes time of its own.
    `usable_cpus`: by host, the processors that Hockney may use, where known.
    `topology`: of the hosts in their order, as `hockney network` reads it; empty where none was given.
    `collectives`: the series of the collectives that the plan names, by its algorithms, else of the one that is
    given; their `ranks` are 0 where the plan does not say on how many. RequestError as of `campaign.collectives`.
    """

    pairs: Sequence[tuple[Locality, int, int]]
    localities: Mapping[tuple[int, int], Locality]
    ranks: Sequence[RankPlace]
    eager_limit_B: Mapping[str, float | None] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    usable_cpus: Mapping[str, frozenset[int]] = field(default_factory=dict)
    mpi_kind: str = ""
    oversubscribed: str = ""
    simulated: bool = False
    sizes_B: Sequence[int] = ()
    largest_B: int = 4 * 2**20
    budget_s: float = 1.0
    tolerance: float = 0.01
    least_samples: int = 60
    seed: int = 0
    topology: str = ""
    collectives: Callable[[str], Sequence[CollectiveKey]] = lambda _: ()

    def timing(self, share: float = 1.0) -> dict[str, float]:
        """The keys of `Repetitions` in cpp/runner/apps/app.hpp, for this share of a point's time."""
        return {
            "repetitions": 0,
            "least_samples": self.least_samples,
            "budget_s": share * self.budget_s,
            "tolerance": self.tolerance,
        }

    def farthest(self) -> Locality:
        """The outermost locality that the placement has."""
        return max((locality for locality, _, _ in self.pairs), key=LOCALITIES.index)


Questions = Generator[Question | NotMeasurable, Answer | None, None]
"""Yields questions and receives their answers; None where the runner refused, and after NotMeasurable.

It must depend on `Here` and the answers alone: a resumed campaign feeds it the answers on disk.
"""

effects: Registry[Callable[[Here], Questions]] = Registry(
    "effect", "hockney.campaign.effects", "reference/effects.md"
)
"""Keys are the effects' names, those of their files in cpp/runner/effects."""

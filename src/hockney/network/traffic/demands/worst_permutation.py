"""The permutation that loads a link most of all, when pairs are spread evenly over their shortest paths."""

from __future__ import annotations

from hockney.network.traffic.demands.base import Allocated, Pairs, Traffic, traffics
from hockney.network.traffic.worst import worst_of_permutations


def worst_permutation(among: Allocated, _seed: int) -> Pairs:
    """Under routing `shortest` no permutation has more on any link; under another routing one may."""
    return worst_of_permutations(among).pairs


traffics.register("worst_permutation")(
    Traffic(
        "of all permutations one that loads a link most, each pair evenly over its shortest paths",
        worst_permutation,
    )
)

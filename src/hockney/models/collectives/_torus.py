"""Alltoall on a cubic torus (Hoefler et al. 2010, section 4): how many messages share the most loaded link.

The torus is k × k × k with P = k³ nodes and 6 k³ unidirectional links; every node sends to every other one along
shortest paths, spread evenly over the links.
"""

from __future__ import annotations

import math


def side(ranks: int) -> int | None:
    """k of P = k³; None where P is no cube."""
    k = round(math.cbrt(ranks))
    return k if k**3 == ranks else None


def congestion(k: int) -> float:
    """The exact Σ distances / links = k²(k²−1)/8 for odd k and k⁴/8 for even k.

    The distances along one axis add up to (k² − 1)/4 for odd k and k²/4 for even k; three axes, k² lines each,
    k³ senders, over 6 k³ links.
    """
    return k * k * (k * k - k % 2) / 8


def congestion_as_printed(ranks: int) -> float:
    """∛P(∛P/2 + 1)³, as Hoefler et al. 2010 print it: an upper bound on C, put in a lower bound on T."""
    k = math.cbrt(ranks)
    return k * (k / 2 + 1) ** 3


def alltoall_factor(ranks: int) -> float:
    """max((P−1)/6, C): blocks that the busiest link carries, injection by six links or the torus.

    Where P is no cube, C is that of a torus with k = ∛P and no parity: k⁴/8.
    """
    if ranks == 1:
        return 0.0
    k = side(ranks)
    busiest = congestion(k) if k is not None else math.cbrt(ranks) ** 4 / 8
    return max((ranks - 1) / 6, busiest)

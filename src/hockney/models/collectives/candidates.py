"""Which sums of terms a model of a collective may be.

Sums of at most four terms: one law of growth with the ranks alone and one times the bytes, each with or without a
constant; and what the closed form of the algorithm counts. No coefficient is negative.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from hockney.models.collectives.base import Growth, Term

MOST_TERMS = 4
NAMES: Mapping[Growth, str] = {
    "1": "",
    "log2(P)": "log2P_",
    "ceil(log2(P))": "ceil_log2P_",
    "floor(log2(P))+2r": "doubling_",
    "P-1": "P_",
    "P^(1/3)": "cbrtP_",
    "P log2(P)": "P_log2P_",
    "P^(4/3)": "P_cbrtP_",
}
"""The laws that are candidates, with their words in names of parameters."""
GENERIC = (
    *(Term(parameter=f"alpha_{name}s", growth=law) for law, name in NAMES.items()),
    *(Term(parameter=f"beta_{name}s_per_B", growth=law, per_byte=True) for law, name in NAMES.items()),
)
_OWN = (
    Term(parameter="schedule_alpha_s", counts="alpha"),
    Term(parameter="schedule_beta_s_per_B", counts="bytes"),
    Term(parameter="schedule_gamma_s_per_B", counts="reduced"),
)
COLUMNS = (*GENERIC, *_OWN)
"""The candidates, each under the name of its parameter."""
_CONSTANT, _ROUNDINGS, _LINEAR = 0, frozenset({1, 2, 3}), 4
"""Places of laws; three roundings of one logarithm."""


def candidates(has_form: bool, several_ranks: bool, several_sizes: bool) -> list[tuple[int, ...]]:
    """The sets of columns, those of the algorithm's own schedule first, then by their number.

    What was not varied has no terms.
    """
    own = [
        (*constant, *chosen)
        for constant in ((), (_CONSTANT,))
        for count in range(1, len(_OWN) + 1)
        for chosen in combinations(range(len(GENERIC), len(COLUMNS)), count)
    ]
    laws = range(1, len(NAMES))
    # Of one size, what is paid for each byte and for each message grows in one sum.
    pairs = [(law, _LINEAR) for law in _ROUNDINGS] if several_sizes else combinations(laws, 2)
    grown = [(), *((law,) for law in laws), *pairs]
    parts = [(*constant, *part) for part in (grown if several_ranks else [()]) for constant in ((), (_CONSTANT,))]
    generic = [
        (*starts, *(len(NAMES) + place for place in moved))
        for starts in parts
        for moved in (parts if several_sizes else [()])
        # Two roundings of one logarithm are one term.
        if 0 < len(starts) + len(moved) <= MOST_TERMS and len(_ROUNDINGS & {*starts, *moved}) < 2
    ]
    return [*(own if has_form else ()), *sorted(generic, key=len)]

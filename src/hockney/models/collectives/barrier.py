"""All ranks wait for all others; no data."""

from __future__ import annotations

from hockney.models.collectives._forms import Case, ClosedForm, Counts, Formula
from hockney.models.collectives.base import Collective, Optimum, collective_models

_HOEFLER = "Hoefler, Cerquetti, Mehlan, Mietke and Rehm, ICPP Workshops 2005"


def _messages(number: Formula, alpha: str, order: str) -> ClosedForm:
    return ClosedForm(number, alpha, "0", (order, "1"), source=_HOEFLER)


def _doubling(case: Case) -> Counts:
    # Ranks beyond the power of two announce themselves, and are told that it is done and acknowledge it.
    return Counts(case.floor + 3 * case.rest, 0.0)


collective_models.register("barrier")(
    Collective(
        Optimum("q", "0", lambda case: Counts(case.log, 0.0)),
        {
            "linear": _messages(lambda case: Counts(2 * (case.ranks - 1), 0.0), "2·(P − 1)", "P"),
            "dissemination": _messages(lambda case: Counts(case.log, 0.0), "q", "log P"),
            "recursive_doubling": _messages(_doubling, "(d + 3·r)", "log P"),
            "tree": _messages(lambda case: Counts(2 * case.log, 0.0), "2·q", "log P"),
            "double_ring": _messages(lambda case: Counts(3 * case.ranks, 0.0), "3·P", "P"),
        },
    )
)

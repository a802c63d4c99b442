"""The four views of a collective algorithm's closed form, symbolic and with the machine's parameters put in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hockney import _core
from hockney.errors import RequestError
from hockney.machine.congestion import Congestion
from hockney.machine.formula import domain, quantity
from hockney.models.base import Fit
from hockney.models.collectives._written import WrittenTerm, meanings, symbols, total
from hockney.models.collectives.closed_form import ClosedForm, collective_models
from hockney.models.collectives.expression import ZERO
from hockney.models.views import Statement, Views, statement
from hockney.report.views.collective_bounds import bounds, torus_bound
from hockney.report.views.collective_costs import CollectiveCosts, numbers
from hockney.report.views.message_shares import by_size, shares_of
from hockney.units import counted, format_rate


@dataclass(frozen=True)
class CollectiveViews:
    """The views of one algorithm, and notes on what they leave out."""

    operation: str
    algorithm: str
    views: Views
    notes: list[str] = field(default_factory=list)


def views_of_collective(
    operation: str,
    algorithm: str = "",
    *,
    costs: CollectiveCosts | None = None,
    congestion: Congestion | None = None,
    ranks: int | None = None,
) -> list[CollectiveViews]:
    """T(P, n) of one algorithm, or of all; n is the whole vector or one rank's block, as in the tidy table.

    With `costs` the machine's numbers follow the symbols; with `ranks` as well, the exact view is T(n) for that
    number of ranks, by the sizes of the messages in the algorithm's schedule. RequestError for an unknown
    operation or algorithm.
    """
    forms = collective_models.get(operation).forms
    if algorithm and algorithm not in forms:
        if any((known.collective, known.name) == (operation, algorithm) for known in _core.algorithms()):
            raise RequestError(
                f"{operation} {algorithm} has no closed form",
                f"`hockney schedule count {operation} --algorithm {algorithm}` counts its messages",
            )
        raise RequestError(f"unknown algorithm of {operation}: {algorithm!r}", f"known: {', '.join(forms)}")
    return [_views(operation, name, costs, congestion, ranks) for name in forms if algorithm in ("", name)]


def _views(
    operation: str,
    algorithm: str,
    costs: CollectiveCosts | None,
    congestion: Congestion | None,
    ranks: int | None,
) -> CollectiveViews:
    collective = collective_models.get(operation)
    form = collective.forms[algorithm]
    views = Views(
        asymptotic=[statement(f"T(P, n) = Θ({form.order})", source=form.source)],
        dominant=_dominant(form, costs),
        bounded=bounds(form, collective.optimum, costs, congestion),
        exact=[_statement(form, symbols(form), meanings(form), form.source)],
    )
    if operation == "alltoall":
        views.bounded.append(torus_bound(costs, congestion))
    notes = []
    if form.reduced is not ZERO:
        notes.append("γ, the time to reduce a byte, is no parameter of a machine file")
    if costs is not None and ranks is None:
        views.exact += _by_regime(form, costs.farthest)
    elif costs is not None and ranks is not None:
        statements, why = _at(operation, algorithm, ranks, costs.farthest)
        views.exact += statements
        notes += why
    if not form.has_bytes:
        views = _without_n(views)
    return CollectiveViews(operation, algorithm, views, notes)


def _without_n(views: Views) -> Views:
    """The views of a barrier, which has no bytes: T(P) for T(P, n)."""
    plain = re.sub(r"T\((\w+), n\)", r"T(\1)", views.model_dump_json())
    return Views.model_validate_json(plain)


def _statement(
    form: ClosedForm, terms: list[WrittenTerm], where: str, source: str = "", rest: str = ""
) -> Statement:
    """T = Σ terms; ≤ where messages of a rank overlap."""
    return statement(f"T(P, n) {'≤' if form.serves_all else '='} {total(terms)}{rest}", where, source)


def _dominant(form: ClosedForm, costs: CollectiveCosts | None) -> list[Statement]:
    """Small data: messages count; large data: bytes do."""
    few, many = symbols(form)[:1], symbols(form)[1:]
    if costs is not None:
        first, last = costs.farthest.regimes[0], costs.farthest.regimes[-1]
        few = numbers(form.alpha, form.bytes, first.alpha_s.value, first.beta_s_per_B.value)[:1]
        many = [*numbers(form.alpha, form.bytes, last.alpha_s.value, last.beta_s_per_B.value)[1:], many[-1]]
    if not form.has_bytes:
        return [_statement(form, few, "")]
    after_few, after_many = (f" + Θ({order})" for order in form.orders[::-1])
    return [
        _statement(form, few, "small n", rest=after_few),
        _statement(form, many, "large n", rest=after_many),
    ]


def _by_regime(form: ClosedForm, fit: Fit) -> list[Statement]:
    """One statement for each regime that all messages of the algorithm fall into."""
    statements = []
    # Messages of a barrier are empty, those of no other.
    for index, regime in enumerate(fit.regimes if form.has_bytes else fit.regimes[:1]):
        terms = numbers(form.alpha, form.bytes, regime.alpha_s.value, regime.beta_s_per_B.value)
        several = len(fit.regimes) > 1 and form.has_bytes
        where = f"messages of m bytes, {domain(fit, index).replace('n', 'm', 1)}" if several else ""
        statements.append(_statement(form, [*terms, symbols(form)[2]], where))
    return statements


def _at(operation: str, algorithm: str, ranks: int, fit: Fit) -> tuple[list[Statement], list[str]]:
    """T(n) on that many ranks, each round with α and β for the size of its message; or a note why not."""
    shares = shares_of(operation, algorithm, ranks)
    if isinstance(shares, str):
        return [], [f"on {counted(ranks, 'rank')}: {shares}"]
    is_exact = shares.is_exact and not collective_models.get(operation).forms[algorithm].serves_all
    statements = []
    for piece in by_size(shares, fit):
        terms = [quantity(piece.alpha_s, "s")] if piece.alpha_s or not piece.beta_s_per_B else []
        if piece.beta_s_per_B > 0:
            terms.append(f"n / {format_rate(1 / piece.beta_s_per_B)}")
        if shares.reduced:
            terms.append(f"{shares.reduced:.6g}·n γ")
        text = f"T({ranks}, n) {'=' if is_exact else '≤'} {' + '.join(terms)}"
        statements.append(statement(text, piece.domain, "the messages of its schedule, round by round"))
    return statements, []

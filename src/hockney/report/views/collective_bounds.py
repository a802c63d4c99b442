"""Bounds on the time of a collective: optimum, best and worst mapping, the links of a torus."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.machine.congestion import Congestion
from hockney.machine.formula import quantity
from hockney.models.base import Fit
from hockney.models.collectives._torus import congestion_as_printed
from hockney.models.collectives._written import largest, symbols, total
from hockney.models.collectives.closed_form import ClosedForm, Optimum
from hockney.models.collectives.expression import ONE, symbol
from hockney.models.views import Statement, statement
from hockney.network.traffic.study import alltoall_congestion
from hockney.report.views.collective_costs import CollectiveCosts, numbers
from hockney.units import counted, format_rate

_CONGESTION = symbol("C")
_TORUS = "Hoefler et al. 2010, section 4, with C exact"
_PRINTED = "as printed, C = ∛P(∛P/2 + 1)³: an upper bound on C, which bounds no time from below"
_LOGGP = "Alexandrov, Ionescu, Schauser and Scheiman, SPAA 1995"


def least_message(fits: Sequence[Fit]) -> tuple[float, float]:
    """The least T(m) in s and the least T(m)/m in s/B of all fits: no message, and no byte of one, is faster.

    The least of a line is at one of its ends. α and β of a single regime would not do: both may be zero.
    """
    ends = [
        (regime, size)
        for fit in fits
        for regime in fit.regimes
        for size in (regime.min_B, regime.max_B)
        if size is not None
    ]
    times = [(regime.alpha_s.value + regime.beta_s_per_B.value * size, size) for regime, size in ends]
    rates = [time / size for time, size in times if size > 0]
    return min(time for time, _ in times), min([*rates, *(fit.regimes[-1].beta_s_per_B.value for fit in fits)])


def _most(fits: Sequence[Fit]) -> tuple[float, float]:
    """α and β whose line no regime of any fit exceeds. With α < 0 times are at most n · T(m)/m, m its end."""
    lines = [
        (alpha_s, beta) if alpha_s >= 0 or regime.max_B is None else (0.0, beta + alpha_s / regime.max_B)
        for fit in fits
        for regime in fit.regimes
        for alpha_s, beta in [(regime.alpha_s.value, regime.beta_s_per_B.value)]
    ]
    return max(alpha_s for alpha_s, _ in lines), max(beta for _, beta in lines)


def _pairs(costs: CollectiveCosts) -> str:
    """The pairs of ranks whose fits a bound is made from."""
    near, far = costs.localities
    return f"pairs from {near} to {far}, whichever take least or most" if near != far else f"every pair at {near}"


def bounds(
    form: ClosedForm, optimum: Optimum, costs: CollectiveCosts | None, congestion: Congestion | None
) -> list[Statement]:
    """The optimum and this algorithm's best and worst mapping; LogGP's bound of a rank that serves all others."""
    statements = [_optimum(optimum, None)]
    if form.has_bytes:
        statements.append(_mappings(form, None, congestion))
    if costs is not None:
        statements += [_optimum(optimum, costs), _mappings(form, costs, congestion)]
        if form.serves_all and costs.loggp is not None and "g" in costs.loggp.parameters:
            statements.append(_served(form, costs.loggp, costs.localities[1]))
    return statements


def _optimum(optimum: Optimum, costs: CollectiveCosts | None) -> Statement:
    """T ≥ max(…): each term by itself."""
    terms = symbols(optimum)
    where = "any algorithm, one message of a rank at a time"
    if costs is not None:
        terms = numbers(optimum.alpha, optimum.bytes, *least_message(costs.every))
        where = f"any algorithm, one message of a rank at a time, {_pairs(costs)}"
    return statement(f"T(P, n) ≥ {largest(terms)}", where, optimum.source)


def _mappings(form: ClosedForm, costs: CollectiveCosts | None, congestion: Congestion | None) -> Statement:
    """Count α + bytes β ≤ T ≤ count α + C bytes β, after equation (2).

    The messages of a rank that serves all overlap: the lower bound has one α, and all bytes.
    """
    alphas = ONE if form.serves_all else form.alpha
    crowded = _CONGESTION * form.bytes
    alpha, beta, reduced = symbols(form)
    if costs is None:
        low = [alpha._replace(times=alphas), beta, reduced]
        high = [alpha, beta._replace(times=crowded), reduced]
        where = "best and worst mapping; C messages share the busiest link"
    else:
        alpha_s, beta_s_per_B = least_message(costs.every)
        if form.serves_all and costs.loggp is not None:
            # Back to back, a byte may take less than in a single message, whose copies nothing hides.
            beta_s_per_B = min(beta_s_per_B, costs.loggp.parameters["G"].value)
        low = [*numbers(alphas, form.bytes, alpha_s, beta_s_per_B), reduced]
        high = [*numbers(form.alpha, crowded, *_most(costs.every)), reduced]
        where = _pairs(costs)
    tail, relation, source = "", " ≤", "Hoefler et al. 2010, equation (2)"
    if congestion is not None and form.has_bytes:
        tail = f", {congestion.definition.text}"
        source += f"; {congestion.definition.source}"
        relation = relation if congestion.is_bound else "; not a bound:"
    elif costs is not None and form.has_bytes:
        where += "; C is not known: measure the effect congestion, or give --topology"
    # The least time and the least time per byte each bound a message from below; their sum does not. The
    # reductions of a rank that serves all overlap its messages.
    below = total(low) if costs is None and not form.serves_all else largest(low)
    return statement(f"{below} ≤ T(P, n){relation} {total(high)}{tail}", where, source)


def _served(form: ClosedForm, loggp: Fit, locality: str) -> Statement:
    """One rank sends or receives P − 1 messages: P − 2 gaps between them, and the time of one message.

    That time, L + o_s + o_r + (n − 1)G, is at least one more gap unless g is longer than an empty message.
    """
    gap_s, per_byte_s = loggp.parameters["g"].value, loggp.parameters["G"].value
    gap, per_byte = quantity(gap_s, "s"), quantity(per_byte_s, "s/B")
    # The line's α is L + o_s + o_r − G.
    gaps = "(P − 1)" if gap_s <= loggp.regimes[0].alpha_s.value + per_byte_s else "(P − 2)"
    bytes_ = "(n − 1)·G"
    bound = f"{gaps}·max(g, {bytes_})" if loggp.gap_is_larger else f"{gaps}·g + {gaps}·{bytes_}"
    return statement(
        f"T(P, n) ≥ {bound}, g = {gap}, G = {per_byte}",
        f"n ≥ 1, every pair at {locality}, where the rank that serves needs g and G, not its partners",
        f"{_LOGGP}; one rank's {form.alpha.text()} messages",
    )


def torus_bound(costs: CollectiveCosts | None, congestion: Congestion | None) -> Statement:
    """T ≥ g(P − 1) + n G max((P − 1)/6, C): injection by six links, or the links of a cubic torus.

    If the torus is given, P is the number of its nodes, and C follows from its extents.
    """
    network = congestion.network if congestion is not None else None
    loggp = costs.loggp if costs is not None else None
    is_larger = loggp is not None and loggp.gap_is_larger
    if network is None or not network.shape:
        terms = ["g·(P − 1)", "n·G·max((P − 1)/6, C)"]
        return statement(
            f"T(P, n) ≥ {_joined(terms, is_larger)}, C = k²·(k² − 1)/8 for odd k, k⁴/8 for even k",
            f"a torus of k × k × k = P nodes, one rank each, ideal routing; {_PRINTED}",
            _TORUS,
        )
    nodes, exact = network.nodes, float(alltoall_congestion(network.shape))
    ports = sum(2 if extent > 2 else 1 for extent in network.shape if extent > 1)
    blocks = max((nodes - 1) / ports, exact)
    where = f"{network.spec}, one rank on each of {counted(nodes, 'node')}, ideal routing"
    if len(set(network.shape)) == 1 and len(network.shape) == 3:
        where += f"; C = {exact:.6g}; {_PRINTED}: {congestion_as_printed(nodes):.6g}"
    terms = [f"g·{nodes - 1}", f"{blocks:.6g}·n·G"]
    if costs is not None:
        # Without a fitted g only bytes count; G is 1/bandwidth.
        beta = loggp.parameters["G"].value if loggp else least_message([costs.farthest])[1]
        gap = loggp.parameters["g"].value if loggp else 0.0
        terms = [quantity(gap * (nodes - 1), "s")] if gap else []
        terms += [f"n / {format_rate(1 / (beta * blocks))}"] if beta else []
    return statement(f"T({nodes}, n) ≥ {_joined(terms, is_larger)}", where, _TORUS)


def _joined(terms: Sequence[str], is_larger: bool) -> str:
    """The sum of the terms, or the larger of them."""
    return f"max({', '.join(terms)})" if is_larger and len(terms) > 1 else " + ".join(terms) or "0"

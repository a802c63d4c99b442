"""The few numbers that characterise a fit: latency, asymptotic bandwidth and n½, each with its interval."""

from __future__ import annotations

from hockney.machine.file import Entry, at_level
from hockney.models import _lines
from hockney.models.base import JOIN, Fit, Parameter, Regime

MESSAGES = {"bidirectional": 2}
"""Messages that pass in the time of one, where it is more than one: both directions count."""

OVERSUBSCRIBED = "measured with more ranks than cores: not a latency"


def published(source: str) -> str:
    """The remark on a model that was not measured here."""
    return f"published, not measured: {source}"


def latency(fit: Fit) -> Parameter:
    """T(0): the constant of the first regime, in seconds."""
    return fit.regimes[0].alpha_s


def bandwidth(entry: Entry, fit: Fit) -> Parameter | None:
    """lim n/T(n), times the messages that pass in T, in B/s; None where T does not grow.

    T is that of the last regime with two measured sizes or more, because a single size shows no slope; of
    the last regime where nothing was measured.
    """
    return inverse(_regimes_with_slope(entry, fit)[-1].beta_s_per_B, "B/s", MESSAGES.get(entry.operation, 1))


def slope_sizes_B(entry: Entry, fit: Fit) -> list[int]:
    """The measured sizes that the bandwidth rests on, in bytes."""
    regime = _regimes_with_slope(entry, fit)[-1]
    return [point.size_B for point in at_level(entry.measurements.points) if _holds(regime, point.size_B)]


def half_bandwidth_size(entry: Entry, fit: Fit) -> Parameter | None:
    """n½ of that bandwidth, in bytes; None where T does not grow."""
    regimes = _regimes_with_slope(entry, fit)
    return fit.n_half_B if len(regimes) == len(fit.regimes) else _lines.half_bandwidth_size(regimes)


def _regimes_with_slope(entry: Entry, fit: Fit) -> list[Regime]:
    """The regimes to the last one whose slope was measured; all where nothing was measured."""
    sizes_B = [point.size_B for point in entry.measurements.points]
    last = max(
        (
            number
            for number, regime in enumerate(fit.regimes)
            if sum(_holds(regime, size_B) for size_B in sizes_B) > 1
        ),
        default=len(fit.regimes) - 1,
    )
    return fit.regimes[: last + 1]


def _holds(regime: Regime, size_B: float) -> bool:
    # A join rests on both of its ends.
    begins = size_B == regime.min_B and (size_B == 0 or regime.label == JOIN)
    return begins or (size_B > regime.min_B and (regime.max_B is None or size_B <= regime.max_B))


def inverse(parameter: Parameter, unit: str, factor: float = 1.0) -> Parameter | None:
    """`factor` / parameter with its interval; None for zero.

    The interval is left out where that of `parameter` holds zero: its inverse has no end.
    """
    if parameter.value == 0:
        return None
    low, high = parameter.low, parameter.high
    bounded = low is not None and high is not None and low * high > 0
    return Parameter(
        value=factor / parameter.value,
        low=factor / high if bounded and high else None,
        high=factor / low if bounded and low else None,
        unit=unit,
    )

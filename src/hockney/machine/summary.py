"""The few numbers that characterise a fit: latency, asymptotic bandwidth and n½, each with its interval."""

from __future__ import annotations

from hockney.machine.file import Entry
from hockney.models.base import Fit, Parameter

MESSAGES = {"bidirectional": 2}
"""Messages that pass in the time of one, where it is more than one: both directions count."""

OVERSUBSCRIBED = "measured with more ranks than cores: not a latency"


def latency(fit: Fit) -> Parameter:
    """T(0): the constant of the first regime, in seconds."""
    return fit.regimes[0].alpha_s


def bandwidth(entry: Entry, fit: Fit) -> Parameter | None:
    """lim n/T(n): the inverse slope of the last regime, in B/s; None where the time does not grow."""
    beta = fit.regimes[-1].beta_s_per_B
    if beta.value == 0:
        return None
    messages = MESSAGES.get(entry.operation, 1)
    # A slope whose interval reaches zero leaves the bandwidth without an upper end.
    bounded = beta.low is not None and beta.high is not None and beta.low * beta.high > 0
    return Parameter(
        value=messages / beta.value,
        low=messages / beta.high if bounded and beta.high else None,
        high=messages / beta.low if bounded and beta.low else None,
        unit="B/s",
    )

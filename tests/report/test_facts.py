"""Headline numbers and warnings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.factories import not_none

from hockney.machine.file import Point
from hockney.machine.provenance import launch_spreads, reservations
from hockney.models.base import Fit, Parameter
from hockney.records.contents import Contents
from hockney.records.journal import LaunchLine
from hockney.records.record import Record
from hockney.records.visits import settle
from hockney.report.curves import MessageCurve, headline
from hockney.report.reading import shared_cores

Make = Callable[..., MessageCurve]


def told(curves: list[MessageCurve], records: list[Any] | None = None, launches: list[Any] | None = None) -> str:
    contents = Contents(
        Path("c"), pd.DataFrame(), records or [], settle(records or [], {}), launches=launches or []
    )
    caveats = reservations([curve.entry for curve in curves], contents)
    return "\n".join([*shared_cores(curves, [], contents.launches)[0], *caveats])


def points(curve: MessageCurve, **fields: Any) -> MessageCurve:
    entry = curve.entry.measurements
    entry.points[:] = [Point.model_validate(point.model_dump() | fields) for point in entry.points]
    return curve


def test_no_model_no_headline(curve: Make) -> None:
    assert headline(curve([(1, 1e-6)]), []) is None


def test_piecewise_before_hockney_before_any_other(curve: Make, line: Callable[..., Fit]) -> None:
    fits = {"asymptotic": line(1e-6, 1e-9), "hockney": line(2e-6, 1e-9), "piecewise": line(3e-6, 1e-9)}
    for name, latency in (("piecewise", 3e-6), ("hockney", 2e-6), ("asymptotic", 1e-6)):
        head = not_none(headline(curve([(1, 1e-6)], fits), []))
        assert (head.model, head.latency_s.value) == (name, latency)
        del fits[name]


def test_latency_of_the_first_regime_and_bandwidth_of_the_last(curve: Make, line: Callable[..., Fit]) -> None:
    first, last = line(1e-6, 1e-9).regimes[0], line(5e-6, 0.1e-9).regimes[0]
    fit = Fit(
        model="piecewise",
        regimes=[first.model_copy(update={"max_B": 8.0}), last.model_copy(update={"min_B": 8.0})],
    )
    head = not_none(headline(curve([(1, 1e-6)], {"piecewise": fit}), []))
    assert head.latency_s.value == 1e-6
    assert not_none(head.bandwidth_B_per_s).value == pytest.approx(10e9)


def test_highest_throughput_is_measured(curve: Make, line: Callable[..., Fit]) -> None:
    head = not_none(headline(curve([(0, 1e-6), (1000, 1e-6), (4000, 8e-6)], {"piecewise": line(1e-6, 1e-9)}), []))
    assert head.highest_throughput_B_per_s == pytest.approx(1e9)
    assert head.fastest_at_B == 1000


def test_bandwidth_of_all_pairs(curve: Make, line: Callable[..., Fit]) -> None:
    fit = line(1e-6, 1e-9)
    fit.regimes[0].beta_s_per_B = Parameter(value=1e-9, low=0.5e-9, high=2e-9, unit="s/B")
    found = not_none(curve([(1, 1e-6)], operation="bandwidth", other={"pairs": "4"}).bandwidth(fit))
    assert [found.value, found.low, found.high] == pytest.approx([4e9, 2e9, 8e9])
    assert curve([(1, 1e-6)]).bandwidth(line(1e-6, 0.0)) is None


def test_quiet_data_has_no_warning(curve: Make, record: Callable[..., Record]) -> None:
    good = curve([(1, 1e-6, 0.99e-6, 1.01e-6)])
    assert told([good], [record(1), record(1, repetition=1)], [LaunchLine(oversubscribed=False)]) == ""


def test_oversubscribed(curve: Make) -> None:
    assert "Oversubscribed" in told([curve([(1, 1e-6, 1e-6, 2e-6)], oversubscribed=True)])
    assert "Oversubscribed" in told([curve([(1, 1e-6, 1e-6, 2e-6)])], launches=[LaunchLine(oversubscribed=True)])


def test_disturbed_share(curve: Make) -> None:
    made = curve([(1, 1e-6, 0.95e-6, 1.05e-6), (2, 1e-6, 0.95e-6, 1.05e-6)])
    assert "2 disturbed" in told([points(made, samples=100, disturbed=10)])
    assert told([points(made, samples=100, disturbed=5)]) == ""


def test_points_whose_interval_stayed_wide(curve: Make) -> None:
    made = points(curve([(1, 1e-6, 0.9e-6, 1.1e-6), (1024, 1e-6, 0.8e-6, 1.2e-6)]), stop=["budget", "interval"])
    assert "2 of 2 points ended by their time budget" in told([made])
    assert "±20 % (pingpong, locality cache, 1 KiB)" in told([made])


@pytest.mark.parametrize(
    ("verified", "text"),
    [(False, "payload was wrong in 1 of 2"), (None, "payload of 1 of 2 records was not checked")],
)
def test_payload(curve: Make, verified: bool | None, text: str, record: Callable[..., Record]) -> None:
    assert text in told([curve([(1, 1e-6, 0.9e-6, 2e-6)])], [record(1), record(2, verified=verified)])


def test_an_import_is_not_blamed_for_an_unverified_payload(curve: Make, record: Callable[..., Record]) -> None:
    good = curve([(1, 1e-6, 0.95e-6, 1.05e-6)])
    assert told([good], [record(1, source="osu", verified=None)]) == ""


def test_spread_between_launches(curve: Make, record: Callable[..., Record]) -> None:
    """Medians 1 and 1.2 of two launches: 0.2 / 1.1 = 18 %."""
    records = [record(1024), record(1024, repetition=1, scale=1.2)]
    assert list(launch_spreads(records).values()) == [pytest.approx(0.2 / 1.1)]
    assert "The worst differs by 18 %" in told([curve([(1, 1e-6, 0.9e-6, 2e-6)])], records)
    assert launch_spreads([record(1), record(2)]) == {}


def test_a_point_measured_again_replaces_the_first(record: Callable[..., Record]) -> None:
    records = [record(8, scale=9), record(8), record(8, repetition=1)]
    assert list(launch_spreads(records).values()) == [0.0]


def test_points_without_interval(curve: Make) -> None:
    assert "1 of 2 points have no interval" in told([curve([(1, 1e-6), (2, 1e-6, 0.9e-6, 2e-6)])])


def test_equal_samples_are_no_lack_of_an_interval(curve: Make) -> None:
    assert told([points(curve([(1, 1e-6)]), records=3)]) == ""


def test_warnings_of_launches_once_each(curve: Make) -> None:
    good = curve([(1, 1e-6, 0.99e-6, 1.01e-6)])
    assert told([good], [], [LaunchLine(warnings=["odd"])] * 2) == "odd"


def test_without_messages_no_configurations_are_counted() -> None:
    said = told([], launches=[LaunchLine(oversubscribed=True)])
    assert "Oversubscribed" in said
    assert "of 0" not in said

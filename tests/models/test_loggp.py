"""LogGP gives back the parameters that dedicated measurements were made from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.factories import holds

from hockney.errors import RequestError
from hockney.models.base import models, predict
from hockney.records.series import Series

SIZES = np.array([1.0, *(2.0 ** np.arange(3, 21))])
L, O_S, O_R, G_MESSAGE, G_BYTE = 1.0e-6, 2e-7, 3e-7, 4e-7, 1e-10


def made(time_s: np.ndarray, width: float = 0.0) -> Series:
    return Series({}, SIZES, time_s, time_s * (1 - width), time_s * (1 + width))


def series(width: float = 0.0, latency_s: float = L) -> Series:
    """Exact measurements of a machine with the parameters above."""
    related = {
        "send_overhead": made(np.full(SIZES.size, O_S), width),
        "receive_overhead": made(np.full(SIZES.size, O_R), width),
        "bandwidth": made(G_MESSAGE + (SIZES - 1) * G_BYTE, width),
    }
    return replace(made(latency_s + O_S + O_R + (SIZES - 1) * G_BYTE, width), related=related)


def test_parameters_come_back() -> None:
    found = models.get("loggp")(series())
    values = {name: found.parameters[name].value for name in ("L", "o_s", "o_r", "g", "G")}
    expected = {"L": L, "o_s": O_S, "o_r": O_R, "g": G_MESSAGE, "G": G_BYTE}
    assert values == pytest.approx(expected, rel=1e-9)
    assert predict(found, SIZES) == pytest.approx(series().time_s, rel=1e-9)


@pytest.mark.parametrize("window", [2, 4, 64])
def test_the_ends_of_a_window_are_no_gap(window: int) -> None:
    exact = series()
    gaps_s = G_MESSAGE + (SIZES - 1) * G_BYTE
    # The first message and the empty answer take one way each, whatever the window.
    windowed = made((exact.time_s + (window - 1) * gaps_s + exact.time_s[0]) / window)
    windowed = replace(windowed, key={"window": str(window)})
    found = models.get("loggp")(replace(exact, related={**exact.related, "bandwidth": windowed}))
    assert found.parameters["g"].value == pytest.approx(G_MESSAGE, rel=1e-9)
    assert found.parameters["G"].value == pytest.approx(G_BYTE, rel=1e-9)


def test_a_gap_that_is_the_larger_of_two_is_not_taken_for_their_sum() -> None:
    noise = 1 + 0.01 * np.random.default_rng(3).standard_normal(SIZES.size)
    exact = series()
    windowed = made(np.maximum(G_MESSAGE, (SIZES - 1) * G_BYTE) * noise)
    found = models.get("loggp")(replace(exact, related={**exact.related, "bandwidth": windowed}))
    # Half of 1 % of noise over some ten points each: 3 % is six deviations.
    assert found.parameters["g"].value == pytest.approx(G_MESSAGE, rel=0.03)
    assert found.parameters["G"].value == pytest.approx(G_BYTE, rel=0.03)
    for name, truth in (("g", G_MESSAGE), ("G", G_BYTE)):
        assert holds(found.parameters[name], truth)
    assert found.gap_is_larger
    assert not models.get("loggp")(exact).gap_is_larger
    assert any("larger" in note for note in found.notes)
    assert not any("larger" in note for note in models.get("loggp")(exact).notes)


def test_a_window_no_longer_than_its_ends_is_refused() -> None:
    exact = series()
    windowed = replace(made(exact.time_s / 64), key={"window": "64"})
    with pytest.raises(RequestError, match="windows of 64 messages"):
        models.get("loggp")(replace(exact, related={**exact.related, "bandwidth": windowed}))


def test_intervals_of_the_measurements_reach_the_parameters() -> None:
    found = models.get("loggp")(series(width=0.1))
    latency = found.parameters["L"]
    # The worst of all ends: (1.5 − 10 %) − 1.1 · (0.2 + 0.3) µs and (1.5 + 10 %) − 0.9 · 0.5 µs.
    assert (latency.low, latency.high) == pytest.approx((0.8e-6, 1.2e-6), rel=1e-9)
    gap = found.parameters["g"]
    assert holds(gap, G_MESSAGE)


def test_overlap_clamps_the_latency_and_says_so() -> None:
    found = models.get("loggp")(series(latency_s=-1e-7))
    assert found.parameters["L"].value == 0
    assert any("overlap" in note for note in found.notes)
    assert not found.nonphysical
    assert np.all(predict(found, np.array([0.0, 1.0, 1e6])) > 0)


@pytest.mark.parametrize("latency_s", [L, -1e-7])
def test_the_interval_of_alpha_holds_it(latency_s: float) -> None:
    """α is the one-way time less G, here 0.1 ns, or more than it where L is set to 0; intervals of ±10⁻⁵."""
    found = models.get("loggp")(series(width=1e-5, latency_s=latency_s))
    alpha = found.regimes[0].alpha_s
    assert holds(alpha, alpha.value)
    # Still that of the one-way time at its other end.
    one_way = latency_s + O_S + O_R
    end, expected = (alpha.high, one_way * (1 + 1e-5)) if latency_s > 0 else (alpha.low, one_way * (1 - 1e-5))
    assert end == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["send_overhead", "receive_overhead", "bandwidth"])
def test_a_missing_measurement_is_named(name: str) -> None:
    whole = series()
    related = {other: one for other, one in whole.related.items() if other != name}
    with pytest.raises(RequestError, match=name):
        models.get("loggp")(replace(whole, related=related))

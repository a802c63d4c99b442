"""Four views of a point-to-point fit; the expected strings follow from the fixture's numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.factories import regime, version_1

from hockney.machine.congestion import Congestion
from hockney.machine.file import Entry, Machine
from hockney.models.base import Fit, Parameter
from hockney.models.views import VIEWS, Statement
from hockney.report.views.fit_views import views_of

WORST = Congestion(
    Statement(text="C = 3/2·∛P", latex=r"C = \tfrac{3}{2}\sqrt[3]{P}", source="equation (2)"), None
)


@pytest.fixture
def machine() -> Machine:
    return version_1()


def entry_at(machine: Machine, locality: str) -> Entry:
    return next(one for one in machine.point_to_point if one.locality == locality and one.operation == "pingpong")


def line(alpha_s: float, beta_s_per_B: float) -> Fit:
    return Fit(model="hockney", regimes=[regime(alpha_s, beta_s_per_B)])


def texts(statements: list[Statement]) -> list[str]:
    return [f"{one.text} | {one.where}" for one in statements]


def test_from_the_coarsest_to_the_finest(machine: Machine) -> None:
    entry = entry_at(machine, "network")
    views = views_of(entry, entry.fits["piecewise"])
    assert texts(views.asymptotic) == ["T(n) = Θ(n) | "]
    assert texts(views.dominant) == ["T(n) = n / 12.5 GB/s + Θ(1) | n → ∞"]
    assert texts(views.exact) == [
        "T(n) = 1.5 µs + n / 10 GB/s | 0 ≤ n ≤ 4 KiB (eager)",
        "T(n) = 1 µs + n / 12.5 GB/s | n > 4 KiB (rendezvous)",
    ]


def test_congestion_bounds_what_crosses_the_network(machine: Machine) -> None:
    entry = entry_at(machine, "network")
    views = views_of(entry, entry.fits["piecewise"], WORST)
    assert texts(views.bounded)[1] == (
        "(1 µs + n / 12.5 GB/s) / 1.1 ≤ T(n) ≤ (1 µs + C · n / 12.5 GB/s) · 1.1, C = 3/2·∛P "
        "| n > 4 KiB (rendezvous)"
    )
    assert "equation (2)" in views.bounded[1].source
    # A published line has no points left out: its bounds are those of the medians, and say so.
    (plain,) = views_of(entry, line(1e-6, 1e-10), WORST).bounded
    assert (plain.text, plain.where) == (
        "1 µs + n / 10 GB/s ≤ T(n) ≤ 1 µs + C · n / 10 GB/s, C = 3/2·∛P",
        "n ≥ 0; of medians",
    )


@pytest.mark.parametrize("worst", [1.0, 0.97])
def test_without_congestion_the_points_left_out_bound_it(machine: Machine, worst: float) -> None:
    entry = entry_at(machine, "network")
    none = Congestion(Statement(text="C", latex="C"), worst)
    views = views_of(entry, entry.fits["piecewise"], none)
    assert texts(views.bounded)[1] == (
        "(1 µs + n / 12.5 GB/s) / 1.1 ≤ T(n) ≤ (1 µs + n / 12.5 GB/s) · 1.1 | n > 4 KiB (rendezvous)"
    )
    assert views_of(entry, line(1e-6, 1e-10), none).bounded == []


def test_the_farthest_pairing_bounds_nothing_from_above(machine: Machine) -> None:
    entry = entry_at(machine, "network")
    found = views_of(entry, entry.fits["piecewise"], replace(WORST, is_bound=False)).bounded[1]
    assert found.text == (
        "(1 µs + n / 12.5 GB/s) / 1.1 ≤ T(n); not a bound, every node with the farthest other: "
        "(1 µs + C · n / 12.5 GB/s) · 1.1, C = 3/2·∛P"
    )
    assert "<" not in found.latex


def test_inside_a_node_the_points_left_out_bound_it(machine: Machine) -> None:
    entry = entry_at(machine, "package")
    fit = entry.fits["piecewise"]
    assert fit.quality is not None
    (first, *_) = views_of(entry, fit, WORST).bounded
    assert first.text == "(0.2 µs + n / 10 GB/s) / 1.1 ≤ T(n) ≤ (0.2 µs + n / 10 GB/s) · 1.1"
    assert fit.quality.prediction_factor == 1.1
    fit.quality.prediction_factor = None
    assert views_of(entry, fit, WORST).bounded == []


def test_a_time_that_does_not_grow(machine: Machine) -> None:
    views = views_of(entry_at(machine, "network"), line(2e-6, 0.0), WORST)
    assert [views.asymptotic[0].text, views.dominant[0].text] == ["T(n) = Θ(1)", "T(n) = 2 µs"]
    assert views.bounded[0].text == "T(n) = 2 µs"


def test_a_negative_parameter_bounds_nothing(machine: Machine) -> None:
    fit = line(-1e-4, 1e-10)
    fit.nonphysical = True
    views = views_of(entry_at(machine, "network"), fit, WORST)
    assert views.bounded == []
    assert views.exact[0].text == "T(n) = −100 µs + n / 10 GB/s"


def test_loggp_by_its_own_parameters(machine: Machine) -> None:
    fit = line(1e-6, 1e-9)
    seconds = {"L": 0.5e-6, "o_s": 0.2e-6, "o_r": 0.3e-6, "g": 0.4e-6}
    fit.parameters = {name: Parameter(value=value, unit="s") for name, value in seconds.items()}
    fit.parameters["G"] = Parameter(value=1e-9, unit="s/B")
    views = views_of(entry_at(machine, "network"), fit)
    assert views.exact[-1].text == (
        "T(n) = L + o_s + o_r + (n − 1)·G = 0.5 µs + 0.2 µs + 0.3 µs + (n − 1) · 1 ns/B"
    )


def test_every_fit_has_all_views_in_balanced_latex(machine: Machine) -> None:
    for entry in machine.point_to_point:
        for fit in entry.fits.values():
            views = views_of(entry, fit, WORST)
            for view in VIEWS:
                assert views.of(view) or (view == "bounded" and fit.nonphysical)
                for one in views.of(view):
                    assert one.latex.count("{") == one.latex.count("}")
                    assert one.latex.isascii()

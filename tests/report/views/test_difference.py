"""Two machines compared: planted differences are found, chance is taken for none, nothing is matched by force."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hockney.machine.file import Entry, Machine, load
from hockney.models.base import Parameter
from hockney.models.collectives.base import CollectiveModel
from hockney.models.effects.base import Effect
from hockney.report.views.difference import LEVEL, compare, difference

TWIN = load(Path(__file__).parents[2] / "machine" / "data" / "version1.json")
"""Six entries of one library, intervals of ±5 % around the parameters and ±1 % around the points."""


def parameter(value: float, relative: float | None = 0.05, unit: str = "s") -> Parameter:
    if relative is None:
        return Parameter(value=value, unit=unit)
    return Parameter(value=value, low=value * (1 - relative), high=value * (1 + relative), unit=unit)


def machine(
    *entries: Entry, effects: tuple[Effect, ...] = (), collectives: tuple[CollectiveModel, ...] = ()
) -> Machine:
    return TWIN.model_copy(
        update={"point_to_point": list(entries), "effects": list(effects), "collectives": list(collectives)}
    )


def slower(entry: Entry, factor: float) -> Entry:
    """Its piecewise model with every latency times `factor`, intervals and all."""
    fit = entry.fits["piecewise"].model_copy(deep=True)
    for regime in fit.regimes:
        one = regime.alpha_s
        assert one.low is not None
        assert one.high is not None
        regime.alpha_s = Parameter(
            value=one.value * factor, low=one.low * factor, high=one.high * factor, unit="s"
        )
    return entry.model_copy(update={"fits": {**entry.fits, "piecewise": fit}})


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        (parameter(1.0), parameter(1.5), "differs"),
        (parameter(1.5), parameter(1.0), "differs"),
        (parameter(1.0), parameter(1.09), "cannot be told"),
        (parameter(1.0), parameter(1.0), "cannot be told"),
        (parameter(1.0), parameter(1.5, None), "no interval"),
        (parameter(1.0, None), parameter(1.5), "no interval"),
        (parameter(1.0, None), parameter(1.0, None), "equal"),
        (parameter(0.0, 0.0), parameter(1.0), "differs"),
    ],
)
def test_verdicts(a: Parameter, b: Parameter, verdict: str) -> None:
    assert compare("here", "latency", a, b).verdict == verdict


def test_the_ratio_lies_between_its_ends() -> None:
    one = compare("here", "latency", parameter(2.0, 0.1), parameter(3.0, 0.2))
    # 3/2; (3 × 0.8) / (2 × 1.1) and (3 × 1.2) / (2 × 0.9).
    assert (one.ratio, one.low, one.high) == pytest.approx((1.5, 2.4 / 2.2, 3.6 / 1.8))


def test_a_ratio_to_nothing_is_none() -> None:
    one = compare("here", "latency", Parameter(value=0.0, low=0.0, high=0.1, unit="s"), parameter(1.0))
    assert (one.ratio, one.low, one.high) == (None, None, None)


def test_a_ratio_beyond_every_number_is_none() -> None:
    one = compare("", "", parameter(1e-300), parameter(1e300))
    assert (one.ratio, one.low, one.high) == (None, None, None)
    assert one.verdict == "differs"


def test_no_more_false_alarms_than_said() -> None:
    """Two estimates of one value, each with a correct 95 % interval, of like and of unlike width."""
    rng = np.random.default_rng(20261121)
    count = 4000
    for width in (1.0, 0.01):
        alarms = 0
        for _ in range(count):
            found = []
            for sigma in (0.1, 0.1 * width):
                value = 10 + rng.normal(0, sigma)
                found.append(
                    Parameter(value=value, low=value - 1.96 * sigma, high=value + 1.96 * sigma, unit="s")
                )
            alarms += compare("", "", *found).verdict == "differs"
        # Five standard errors above the level: √(0.05 × 0.95 / 4000) = 0.34 %.
        assert alarms / count < LEVEL + 5 * 0.0035


def test_a_machine_does_not_differ_from_itself() -> None:
    found = difference(TWIN, TWIN, points=True)
    assert {one.verdict for one in found.comparisons} == {"cannot be told"}
    assert (found.only_in_a, found.only_in_b) == ([], [])
    points = sum(len(entry.measurements.points) for entry in TWIN.point_to_point)
    assert len(found.comparisons) == points + 2 * len(TWIN.point_to_point)
    assert found.by_chance == pytest.approx(0.05 * len(found.comparisons))


def test_a_planted_difference_is_found_where_it_was_planted() -> None:
    first, *others = TWIN.point_to_point
    found = difference(TWIN, machine(slower(first, 1.5), *others))
    [one] = found.of("differs")
    assert one.name == "latency"
    assert one.ratio == pytest.approx(1.5)
    assert one.where.startswith("pingpong, locality package, cache warm")


def test_a_difference_within_the_intervals_cannot_be_told() -> None:
    first, *others = TWIN.point_to_point
    assert not difference(TWIN, machine(slower(first, 1.05), *others)).of("differs")


def test_two_libraries_of_one_kind_of_pair_are_compared() -> None:
    first = TWIN.point_to_point[0]
    newer = first.model_copy(
        update={"other": {**first.other, "mpi": "Open MPI 6.0", "system": "other", "ppn": "4"}}
    )
    found = difference(machine(first), machine(slower(newer, 2)))
    assert [(one.name, one.verdict) for one in found.comparisons] == [
        ("latency", "differs"),
        ("bandwidth", "cannot be told"),
    ]
    assert any("ppn 2 in A, ppn 4 in B" in remark for remark in found.remarks)


def test_where_a_machine_has_two_libraries_each_is_compared_with_its_own() -> None:
    first = TWIN.point_to_point[0]
    second = slower(first.model_copy(update={"other": {**first.other, "mpi": "MPICH 5.0"}}), 3)
    found = difference(machine(first, second), machine(second, first))
    assert {one.ratio for one in found.comparisons} == {1.0}
    found = difference(machine(first, second), machine(second))
    assert len(found.only_in_a) == 1
    assert "mpi Open MPI 5.0.11" in found.only_in_a[0]


def test_effects_and_collectives_by_parameter() -> None:
    def effect(**changes: object) -> Effect:
        return Effect.model_validate({"effect": "matching", "locality": "cache", **changes})

    a = effect(parameters={"per_entry_s": parameter(1e-8), "S": parameter(4096, None, "B"), "gone": parameter(1)})
    b = effect(parameters={"per_entry_s": parameter(2e-8), "S": parameter(8192, None, "B")})
    bcast = [CollectiveModel(operation="bcast", parameters={"alpha_s": parameter(x)}) for x in (1e-6, 5e-6)]
    alone = effect(effect="overlap", not_measurable="one core")
    found = difference(
        machine(effects=(a,), collectives=(bcast[0],)), machine(effects=(b, alone), collectives=(bcast[1],))
    )
    assert [(one.where, one.name, one.verdict) for one in found.comparisons] == [
        ("matching, locality cache", "per_entry_s", "differs"),
        ("matching, locality cache", "S", "no interval"),
        ("bcast", "alpha_s", "differs"),
    ]
    assert found.only_in_a == ["matching, locality cache: gone"]
    assert found.only_in_b == ["overlap, locality cache"]
    both = difference(machine(effects=(alone,)), machine(effects=(alone,)))
    assert both.remarks[0] == "overlap, locality cache: not measurable in A: one core"


def test_units_are_not_mixed() -> None:
    a = Effect(effect="x", parameters={"cost": parameter(1, unit="s")})
    b = Effect(effect="x", parameters={"cost": parameter(1, unit="B")})
    found = difference(machine(effects=(a,)), machine(effects=(b,)))
    assert (found.comparisons, found.remarks) == ([], ["x: cost is in s in A, in B in B"])


def test_oversubscribed_entries_are_named() -> None:
    found = difference(TWIN, TWIN)
    assert sum("more ranks than cores" in remark for remark in found.remarks) == 2

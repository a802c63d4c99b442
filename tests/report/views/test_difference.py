"""Two machines compared: planted differences are found, chance is taken for none, nothing is matched by force."""

from __future__ import annotations

import math

import pytest
from scipy import stats
from tests.factories import not_none, version_1

from hockney.machine.file import Entry, LaunchProvenance, Machine, Provenance
from hockney.models.base import Parameter
from hockney.models.collectives.base import CollectiveModel
from hockney.models.effects.base import Effect
from hockney.report.views.difference import difference
from hockney.report.views.judgement import LEVEL, Measured, corrected
from hockney.report.views.quantity import compare

ONE_LAUNCH = version_1()
"""Six entries of one library, intervals of ±5 % around the parameters and ±1 % around the points."""


def with_launches(machine: Machine, count: int | None) -> Machine:
    """The machine as if so many launches had measured each of its points (None: nobody says)."""
    machine = machine.model_copy(deep=True)
    for entry in machine.point_to_point:
        entry.measurements.launches = [f"launch {number}" for number in range(count or 0)]
        for point in entry.measurements.points:
            point.records = None if count is None else count * len(entry.pairs)
    return machine


TWIN = with_launches(ONE_LAUNCH, 3)


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
        regime.alpha_s = Parameter(
            value=one.value * factor, low=not_none(one.low) * factor, high=not_none(one.high) * factor, unit="s"
        )
    return entry.model_copy(update={"fits": {**entry.fits, "piecewise": fit}})


def welch(difference: float, error: float) -> float:
    """The p of a difference of two logarithms, each with that error of three launches and a drift of 2.5 %."""
    variance, drift = 2 * error**2, 2 * 0.025**2
    # The drift is taken as known, so that the two degrees of freedom on each side say less.
    freedom = (variance + drift) ** 2 / (2 * error**4 / 2)
    return float(2 * stats.t.sf(difference / math.sqrt(variance + drift), freedom))


def measured(value: float, relative: float | None = 0.05, launches: int | None = 3) -> Measured:
    return Measured(parameter(value, relative), launches)


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        (measured(1.0), measured(1.5), "differs"),
        (measured(1.5), measured(1.0), "differs"),
        (measured(1.0), measured(1.09), "undecided"),
        (measured(1.0), measured(1.0), "undecided"),
        (measured(1.0), measured(1.5, launches=2), "not judged"),
        (measured(1.0, launches=None), measured(1.5), "not judged"),
        (measured(1.0), measured(1.5, None), "no interval"),
        (measured(1.0, None), measured(1.5), "no interval"),
        (measured(1.0, None), measured(1.0, None), "equal"),
        (measured(0.0, 0.0), measured(1.0), "differs"),
        (measured(1.0, 0.0), measured(1.01, 0.0), "differs"),
        (measured(1.0, 0.0), measured(1.0, 0.0), "undecided"),
        # Intervals of ±5 %, but launches that differ by 10 % as one.
        (measured(1.0), Measured(parameter(1.3), 3, launch_error=0.1), "undecided"),
        # What others leave of a shared cache moves it by as much.
        (measured(1.0), Measured(parameter(1.5), 3, drift=0.3), "undecided"),
    ],
)
def test_verdicts(a: Measured, b: Measured, verdict: str) -> None:
    comparison = compare("here", "latency", a, b)
    assert comparison.verdict == verdict
    assert (comparison.p is not None) == (verdict in ("differs", "undecided"))


def test_the_ratio_lies_between_its_ends() -> None:
    comparison = compare("here", "latency", measured(2.0, 0.1), measured(3.0, 0.2))
    # 3/2; (3 × 0.8) / (2 × 1.1) and (3 × 1.2) / (2 × 0.9).
    ratios = comparison.ratio, comparison.ratio_low, comparison.ratio_high
    assert ratios == pytest.approx((1.5, 2.4 / 2.2, 3.6 / 1.8))


def test_a_ratio_to_nothing_is_none() -> None:
    nothing = Measured(Parameter(value=0.0, low=0.0, high=0.1, unit="s"), 3)
    comparison = compare("here", "latency", nothing, measured(1.0))
    assert (comparison.ratio, comparison.ratio_low, comparison.ratio_high) == (None, None, None)


def test_a_ratio_beyond_every_number_is_none() -> None:
    comparison = compare("", "", measured(1e-300), measured(1e300))
    assert (comparison.ratio, comparison.ratio_low, comparison.ratio_high) == (None, None, None)
    assert comparison.verdict == "differs"


def test_an_interval_cut_off_at_zero_is_as_wide_as_its_other_side() -> None:
    at_zero = Measured(Parameter(value=0.0, low=0.0, high=1.96, unit="s"), 3)
    exact = Measured(Parameter(value=4.0, low=4.0, high=4.0, unit="s"), 3)
    # A standard error of 1 with the two degrees of freedom of the side that is not exact; a drift of 2.5 % of 4.
    variance = 1 + 0.1**2
    expected = 2 * stats.t.sf(4 / math.sqrt(variance), variance**2 / (1 / 2))
    assert compare("", "", at_zero, exact).p == pytest.approx(expected)


def test_more_launches_make_the_same_intervals_surer() -> None:
    p_values = [compare("", "", *(measured(x, launches=n) for x in (1.0, 1.1))).p or 0 for n in (3, 5, 50)]
    assert p_values == sorted(p_values, reverse=True)
    # 50 launches a side are nearly normal: ln 1.1 over two errors of (−ln 0.95) / 1.96, and two drifts.
    z = math.log(1.1) / (math.sqrt(2) * math.hypot(math.log(0.95) / 1.96, 0.025))
    assert p_values[-1] == pytest.approx(math.erfc(z / math.sqrt(2)), rel=0.15)


def test_the_correction_is_benjamini_and_hochbergs() -> None:
    """The fifteen p-values of table 1 of their paper of 1995: four are found at 5 %, where nine are below 5 %."""
    p_values = [
        *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344),
        *(0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.000),
    ]
    assert sum(p <= LEVEL for p in corrected(p_values)) == 4
    assert corrected([]) == []


def test_a_machine_does_not_differ_from_itself() -> None:
    found = difference(TWIN, TWIN, points=True)
    assert {one.verdict for one in found.comparisons} == {"undecided"}
    assert (found.only_in_a, found.only_in_b) == ([], [])
    points = sum(len(entry.measurements.points) for entry in TWIN.point_to_point)
    assert len(found.comparisons) == points + 2 * len(TWIN.point_to_point)
    assert (found.judged, found.expected_by_chance_at_most) == (len(found.comparisons), 0)


def test_a_planted_difference_is_found_where_it_was_planted() -> None:
    first, *others = TWIN.point_to_point
    found = difference(TWIN, machine(slower(first, 1.5), *others))
    [one] = found.having("differs")
    assert one.quantity == "latency"
    assert one.ratio == pytest.approx(1.5)
    assert one.where.startswith("pingpong, locality package, cache warm")


def test_a_difference_within_the_intervals_undecided() -> None:
    first, *others = TWIN.point_to_point
    assert not difference(TWIN, machine(slower(first, 1.05), *others)).having("differs")


def test_two_libraries_of_one_kind_of_pair_are_compared() -> None:
    first = TWIN.point_to_point[0]
    newer = first.model_copy(
        update={"other": {**first.other, "mpi": "Open MPI 6.0", "system": "other", "ppn": "4"}}
    )
    found = difference(machine(first), machine(slower(newer, 2)))
    assert [(one.quantity, one.verdict) for one in found.comparisons] == [
        ("latency", "differs"),
        ("bandwidth", "undecided"),
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
        return Effect.model_validate(
            {"effect": "matching", "locality": "cache", "launches": ["x", "y", "z"], **changes}
        )

    a = effect(parameters={"per_entry_s": parameter(1e-8), "S": parameter(4096, None, "B"), "gone": parameter(1)})
    b = effect(parameters={"per_entry_s": parameter(2e-8), "S": parameter(8192, None, "B")})
    bcast = [CollectiveModel(operation="bcast", parameters={"alpha_s": parameter(x)}) for x in (1e-6, 5e-6)]
    alone = effect(effect="overlap", not_measurable="one core")
    found = difference(
        machine(effects=(a,), collectives=(bcast[0],)), machine(effects=(b, alone), collectives=(bcast[1],))
    )
    assert [(one.where, one.quantity, one.verdict) for one in found.comparisons] == [
        ("matching, locality cache", "per_entry_s", "differs"),
        ("matching, locality cache", "S", "no interval"),
        ("bcast", "alpha_s", "not judged"),
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


def test_two_launches_a_side_are_not_judged_and_the_summary_says_so_once() -> None:
    first, *others = with_launches(ONE_LAUNCH, 2).point_to_point
    slow = machine(slower(first, 10), *others)
    diff = difference(TWIN, slow, points=True)
    assert (diff.judged, diff.having("differs")) == (0, [])
    text = diff.summary
    assert text.count("launches a side: B has 2 launches\n") == 1
    assert "hockney measure -o CAMPAIGN --launches 3 --level all" in text
    assert "expected to be false" not in text


def test_launches_that_nobody_counted_are_unknown() -> None:
    unknown = with_launches(ONE_LAUNCH, None)
    diff = difference(unknown, ONE_LAUNCH)
    assert {comparison.verdict for comparison in diff.comparisons} == {"not judged"}
    assert "A has an unknown number of launches, B has 1 launch\n" in diff.not_judged_because


def test_pairs_are_not_launches() -> None:
    """Three pairs in one launch make three records of a point."""
    entry = TWIN.point_to_point[0].model_copy(update={"pairs": ["0-1", "0-2", "0-3"]})
    assert difference(machine(entry), machine(entry)).judged == 0


def test_a_fit_is_no_surer_than_its_points() -> None:
    """Points that span ±30 % over three launches are a launch error of 0.3/√3, whatever the fit says."""
    first = TWIN.point_to_point[0].model_copy(deep=True)
    changed = slower(first, 1.5)
    assert difference(machine(first), machine(changed)).having("differs")
    for entry in (first, changed):
        for point in entry.measurements.points:
            point.low_s, point.high_s = 0.7 * point.time_s, 1.3 * point.time_s
    [latency, _] = difference(machine(first), machine(changed)).comparisons
    assert latency.p == pytest.approx(welch(math.log(1.5), 0.3 / math.sqrt(3)))


def test_the_promise_is_about_what_was_found() -> None:
    first, *others = TWIN.point_to_point
    diff = difference(TWIN, machine(slower(first, 2), *others))
    assert diff.promise.endswith("differences found: 1, of which at most 5 % are expected to be false")
    assert diff.expected_by_chance_at_most == pytest.approx(0.05)
    assert "if nothing differed" in difference(TWIN, TWIN).promise


def test_warnings_about_what_is_compared_are_repeated_with_their_side() -> None:
    launches = [
        LaunchProvenance(id="launch 0", warnings=["no MPI_T"]),
        LaunchProvenance(id="elsewhere", warnings=["of another entry", "no MPI_T"]),
    ]
    texts = ["shared by both", "no MPI_T", "of another entry"]
    a = TWIN.model_copy(update={"provenance": Provenance(launches=launches, warnings=texts)})
    b = TWIN.model_copy(update={"provenance": Provenance(warnings=["shared by both", "of B"])})
    assert difference(a, b).concerns[-3:] == ["A and B: shared by both", "A: no MPI_T", "B: of B"]
    nothing = machine().model_copy(update={"provenance": b.provenance})
    assert not any("shared" in text for text in difference(a, nothing).concerns)


def test_what_spans_the_launches_of_a_point_is_taken_for_even() -> None:
    """±6 % of launches is a standard error of 6 %/√3, more than 6 %/1.96."""
    [a, b] = [machine(TWIN.point_to_point[0].model_copy(deep=True, update={"fits": {}})) for _ in range(2)]
    for side, time_s in ((a, 1.0), (b, 1.2)):
        [*points] = side.point_to_point[0].measurements.points
        for point in points:
            point.time_s, point.low_s, point.high_s = time_s, 0.94 * time_s, 1.06 * time_s
    expected = welch(math.log(1.2), 0.06 / math.sqrt(3))
    assert [comparison.p for comparison in difference(a, b, points=True).comparisons] == pytest.approx(
        [expected] * len(points)
    )


def test_a_size_of_one_launch_is_not_judged_and_leaves_the_fit_as_it_is() -> None:
    entry = TWIN.point_to_point[0].model_copy(deep=True)
    entry.measurements.points[1].records = 1
    judged = {
        x.quantity: x.p is not None for x in difference(machine(entry), machine(entry), points=True).comparisons
    }
    assert [name for name, is_judged in judged.items() if not is_judged] == ["time of 8 B"]
    for point in entry.measurements.points[:-1]:
        point.records = 1
    assert difference(machine(entry), machine(entry)).judged == 0

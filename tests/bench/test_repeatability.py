"""What the bench on repeatability says of campaigns whose agreement is known."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from bench.repeatability import messages, winners
from bench.repeatability.campaigns import (
    at_levels,
    collectives_at_levels,
    conditions,
    folders,
    pooled,
    slowed,
)
from bench.repeatability.messages import CampaignAtLevel, agreement, common_level, differences

from hockney.errors import RequestError
from hockney.machine.build import build
from hockney.machine.file import Entry, Measurements, Point, save
from hockney.machine.measured import ELSEWHERE
from hockney.models.base import Fit, Parameter, Quality, Regime
from hockney.records.folder import Campaign
from hockney.records.record import Record

SIZES = tuple(range(0, 1000, 100))
LINE = (1e-6, 1e-9)
"""α in s, β in s/B."""


def campaign(
    times_s: Sequence[float],
    reference_s: float | None = 1e-7,
    share: float = 1.0,
    *,
    met_B: Sequence[int] = SIZES,
    factor: float | None = 1.08,
) -> CampaignAtLevel:
    """A campaign whose model is `LINE`, with an interval of that factor, and whose points took `times_s`."""
    alpha, beta = (Parameter(value=value, unit="") for value in LINE)
    quality = Quality(
        points=10,
        median_relative_error=0,
        p95_relative_error=0,
        max_relative_error=0,
        adjusted_r2=None,
        leave_one_out_median=None,
        leave_one_out_p95=None,
        prediction_factor=factor,
    )
    regime = Regime(min_B=0, max_B=None, alpha_s=alpha, beta_s_per_B=beta)
    points = [Point(size_B=size, time_s=time_s) for size, time_s in zip(SIZES, times_s, strict=True)]
    entry = Entry(
        operation="pingpong",
        fits={"piecewise": Fit(model="piecewise", regimes=[regime], quality=quality)},
        measurements=Measurements(points=points),
    )
    return CampaignAtLevel(reference_s, share, entry, frozenset(met_B), len(SIZES))


def on_the_line(*factors: float) -> list[float]:
    """Times of `SIZES` by `LINE`, the first of them multiplied by `factors`."""
    several = [*factors, *[1.0] * (len(SIZES) - len(factors))]
    return [factor * (LINE[0] + LINE[1] * size) for factor, size in zip(several, SIZES, strict=True)]


def test_campaigns_on_one_line_agree() -> None:
    pair = agreement(("a", "b"), [campaign(on_the_line())], [campaign(on_the_line(), 1.05e-7)])
    assert pair.agrees
    assert (pair.a, pair.b, pair.points, pair.compared, pair.held) == ("a", "b", 10, 1.0, 1.0)
    assert pair.median == pytest.approx(0, abs=1e-12)
    assert pair.half_width == pytest.approx((1.08 - 1 / 1.08) / 2)
    assert pair.reference_s == 1.05e-7


def test_errors_are_of_the_model_against_the_points_of_the_other() -> None:
    # Six points twice as slow: the model is half of them.
    pair = agreement(("a", "b"), [campaign(on_the_line())], [campaign(on_the_line(*[2.0] * 6))])
    assert pair.median == pytest.approx(0.5)
    assert pair.p95 == pytest.approx(0.5)
    assert pair.held == pytest.approx(0.4)
    # And where it is twice as long as they are, it is off by the whole of them.
    assert agreement(("a", "b"), [campaign(on_the_line())], [campaign(on_the_line(*[0.5] * 6))]).p95 == 1.0


@pytest.mark.parametrize(
    "b",
    [
        campaign(on_the_line(*[1.06] * 6)),  # the median
        campaign(on_the_line(1.6)),  # P95: a tenth of the points, between neighbours of no error
        campaign(on_the_line(), met_B=SIZES[:7]),  # compared
        campaign(on_the_line(1.09, 1.09)),  # held alone
    ],
    ids=["median", "p95", "compared", "held"],
)
def test_a_missed_bar_is_no_agreement(b: CampaignAtLevel) -> None:
    assert not agreement(("a", "b"), [campaign(on_the_line())], [b]).agrees


def test_wide_or_missing_intervals_are_no_agreement() -> None:
    b = [campaign(on_the_line())]
    assert not agreement(("a", "b"), [campaign(on_the_line(), factor=1.2)], b).agrees
    missing = agreement(("a", "b"), [campaign(on_the_line(), factor=None)], b)
    assert (missing.held, missing.half_width) == (0.0, float("inf"))


def test_points_at_another_level_are_not_compared() -> None:
    b = campaign(on_the_line(9.0, 9.0), met_B=SIZES[2:])
    pair = agreement(("a", "b"), [campaign(on_the_line())], [b])
    assert (pair.points, pair.compared) == (8, 0.8)
    assert pair.agrees


def test_without_a_common_level_nothing_agrees() -> None:
    pair = agreement(("a", "b"), [campaign(on_the_line(), 1e-7)], [campaign(on_the_line(), 1.3e-7)])
    assert not pair.has_common_level
    assert not pair.agrees
    bars = messages.verdict([pair], [])
    assert not any(bar.holds for bar in bars if bar.name.startswith(("pairs", "median", "P95", "points")))


def test_the_common_level_is_the_one_that_both_had_for_long() -> None:
    times = on_the_line()
    a = [campaign(times, 1e-7, 0.9), campaign(times, 2e-7, 0.06), campaign(times, 4e-7, 0.04)]
    b = [campaign(times, 1.07e-7, 0.05), campaign(times, 2.1e-7, 0.95)]
    assert common_level(a, b) == (a[1], b[1])
    assert common_level(b, a) == (b[1], a[1])
    assert common_level(a[2:], b) is None


def test_an_unknown_level_is_compared_with_any() -> None:
    a, b = [campaign(on_the_line(), None)], [campaign(on_the_line(), 3e-7)]
    assert common_level(a, b) == (a[0], b[0])


def comparison(verdict: str, ratio: float | None, unit: str = "s") -> dict[str, Any]:
    return {"quantity": "latency", "verdict": verdict, "ratio": ratio, "a": {"unit": unit}}


def test_what_diff_says_is_counted() -> None:
    words = ["differs", "undecided", "equal", "no interval", "not judged", "differs"]
    same = {"comparisons": [comparison(word, 1.0) for word in words], "expected_by_chance_at_most": 0.2}
    changed = {
        "comparisons": [
            comparison("differs", 1.15),
            comparison("differs", 0.87),  # faster, and that is wrong
            comparison("differs", 0.87, "B/s"),
            comparison("differs", None),
            comparison("undecided", 1.15),
            # References are left as they are: that nothing is found of them is right.
            comparison("undecided", 1.0) | {"quantity": "reference"},
        ]
    }
    diff = differences(("a", "b"), same, changed)
    assert (diff.compared, diff.differ, diff.promised, diff.not_judged) == (6, 2, 0.2, 2)
    assert (diff.found, diff.changes) == (2, 5)


def test_diff_is_judged_over_all_pairs() -> None:
    pair = agreement(("a", "b"), [campaign(on_the_line())], [campaign(on_the_line())])

    def holds(differ: int, not_judged: int, found: int) -> list[bool]:
        diffs = [
            messages.Differences("a", "b", 20, differ, 1.0, not_judged, 20, found, 0),
            messages.Differences("b", "a", 20, 0, 1.0, 0, 20, 20, 0),
        ]
        return [bar.holds for bar in messages.verdict([pair, pair], diffs) if bar.name.startswith("diff")]

    assert not any(bar.holds for bar in messages.verdict([pair], []) if "found" in bar.name)
    assert holds(2, 0, 16) == [True, True, True]
    assert holds(3, 1, 15) == [False, False, False]


def test_the_worst_pair_decides() -> None:
    good = agreement(("a", "b"), [campaign(on_the_line())], [campaign(on_the_line())])
    bad = agreement(("a", "b"), [campaign(on_the_line())], [campaign(on_the_line(*[2.0] * 6))])
    missed = {bar.name.split(",")[0] for bar in messages.verdict([good, bad], []) if not bar.holds}
    assert missed >= {"median error", "P95 of errors", "points held by 95 % intervals"}


def test_all_times_of_a_record_are_slower_and_its_references_stay() -> None:
    record = {
        "statistic": "one_way", "bytes": 8, "value": 2.0, "low": 1.0, "high": 4.0, "samples": [2.0, 4.0],
        "quantiles": {"0.5": 2.0}, "reference_s": [1.0], "elapsed_s": 1.0,
    }  # fmt: skip
    assert messages.slower(record, 1.5) == {
        "statistic": "one_way", "bytes": 8, "value": 3.0, "low": 1.5, "high": 6.0, "samples": [3.0, 6.0],
        "quantiles": {"0.5": 3.0}, "reference_s": [1.0], "elapsed_s": 1.0,
    }  # fmt: skip
    assert messages.slower({"statistic": "bandwidth_B_per_s", "value": 3.0}, 1.5)["value"] == 2.0


def test_a_slower_copy_is_read_as_a_campaign(tmp_path: Path) -> None:
    folder = tmp_path / "campaign"
    folder.mkdir()
    lines = [{"statistic": "one_way", "bytes": 8, "value": value} for value in (1.0, 2.0)]
    (folder / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "plan.json").write_text("{}")
    (folder / "samples.csv").write_text("of the times before")
    copy = slowed(folder, tmp_path / "copy", 1.5)
    values = [json.loads(line)["value"] for line in (copy / "records.jsonl").read_text().splitlines()]
    assert values == [1.5, 3.0]
    assert sorted(path.name for path in copy.iterdir()) == ["plan.json", "records.jsonl"]
    assert json.loads((folder / "records.jsonl").read_text().splitlines()[0])["value"] == 1.0


def test_campaigns_are_quiet_and_busy_in_turns(tmp_path: Path) -> None:
    assert conditions(5) == ["quiet", "busy", "quiet", "busy", "quiet"]
    names = [f"{number}-{condition}" for number, condition in enumerate(conditions(11), 1)]
    for name in ("other", *reversed(names)):
        (tmp_path / name).mkdir()
    assert [folder.name for folder in folders(tmp_path)] == names
    with pytest.raises(RequestError, match=r"0 campaign\(s\)"):
        folders(tmp_path / "other")


@pytest.fixture
def record() -> Callable[..., Record]:
    def make(value: float, low: float | None, high: float | None, **other: Any) -> Record:
        fields = {"source": "hockney", "operation": "bcast", "bytes": 8, "statistic": "completion"}
        return Record.model_validate({**fields, "value": value, "low": low, "high": high, **other})

    return make


def test_launches_are_pooled(record: Callable[..., Record]) -> None:
    launches = [record(3.0, 2.5, 3.1), record(1.0, 0.9, 1.1), record(2.0, 1.9, 3.2)]
    assert pooled(launches) == (2.0, 0.9, 3.2)
    assert pooled([*launches, record(2.0, None, None)])[1:] == (None, None)


FAST_S, SLOW_S = 1e-7, 2e-7
"""References of two levels; times at the slow one are twice those at the fast one."""


def visits(operation: str, sizes: Sequence[int], reference_s: float, **other: Any) -> list[Record]:
    """A visit of each size at one level: six groups of five samples, on `LINE` at the fast level."""
    records = []
    for size in sizes:
        value = (LINE[0] + LINE[1] * size) * reference_s / FAST_S
        fields = {
            "source": "hockney", "operation": operation, "bytes": size, "value": value, "ranks": 2,
            "statistic": "one_way" if operation == "pingpong" else "completion", "low": 0.99 * value,
            "high": 1.01 * value, "samples": [value] * 30, "group_begins": [0, 5, 10, 15, 20, 25],
            "reference_s": [reference_s] * 7, "reference_iqr_s": [0.01 * reference_s] * 7,
        }  # fmt: skip
        records.append(Record.model_validate(fields | other))
    return records


def stored(folder: Path, *visits_at_level: list[Record]) -> Path:
    """A campaign folder with these visits, in the order of time."""
    Campaign.create(folder, {}).append_all([record for visits in visits_at_level for record in visits])
    return folder


def test_a_campaign_is_read_at_each_of_its_levels(tmp_path: Path) -> None:
    fast = visits("pingpong", SIZES, FAST_S)
    slow = visits("pingpong", [*SIZES[:6], 5000], SLOW_S)
    folder = stored(tmp_path / "campaign", fast, slow, visits("bandwidth", [7], FAST_S))
    machine = build(folder)
    save(machine, tmp_path / "machine.json")
    at_fast, at_slow = at_levels(folder, tmp_path / "machine.json")
    assert [at_fast.reference_s, at_slow.reference_s] == pytest.approx([FAST_S, SLOW_S])
    assert at_fast.met_B == set(SIZES)
    assert at_slow.met_B == {*SIZES[:6], 5000}
    assert at_fast.sizes == at_slow.sizes == 11
    assert at_fast.entry.fits == machine.point_to_point[0].fits
    points = {point.size_B: point.time_s for point in at_slow.entry.measurements.points}
    assert points == pytest.approx({size: 2 * (LINE[0] + LINE[1] * size) for size in [*SIZES[:6], 5000]})
    # The slow campaign of somebody else agrees with it at that level.
    other = stored(tmp_path / "other", visits("pingpong", SIZES[:6], SLOW_S))
    save(build(other), tmp_path / "other.json")
    pair = agreement(("a", "b"), [at_fast, at_slow], at_levels(other, tmp_path / "other.json"))
    assert pair.reference_s == pytest.approx(SLOW_S)
    assert pair.compared == 1.0
    assert pair.p95 < 0.01


def test_without_references_a_campaign_has_one_level(tmp_path: Path) -> None:
    bare: dict[str, Any] = {"reference_s": [], "reference_iqr_s": [], "group_begins": []}
    records = [record.model_copy(update=bare) for record in visits("pingpong", SIZES, FAST_S)]
    folder = stored(tmp_path / "campaign", records)
    save(build(folder), tmp_path / "machine.json")
    (only,) = at_levels(folder, tmp_path / "machine.json")
    assert (only.reference_s, only.share) == (None, 1.0)
    assert only.met_B == set(SIZES)


def test_collectives_are_compared_at_a_level_that_both_have(tmp_path: Path) -> None:
    quiet = collectives_at_levels(stored(tmp_path / "1-quiet", visits("bcast", SIZES, FAST_S)))
    slow = collectives_at_levels(stored(tmp_path / "2-busy", visits("bcast", [*SIZES, 5000], SLOW_S)))
    apart = visits("bcast", SIZES, FAST_S), visits("bcast", [5000], SLOW_S)
    both = collectives_at_levels(stored(tmp_path / "4-busy", *apart))
    assert [one.reference_s for one in both] == [pytest.approx(FAST_S), pytest.approx(SLOW_S)]
    assert both[0].times["bcast", 5000]["default"].marks == {ELSEWHERE}
    assert both[0].times["bcast", SIZES[1]]["default"].marks == frozenset()
    pair, none, at_slow = winners.compared({"a": quiet, "b": both, "c": slow})
    assert (pair.cells, none.cells, at_slow.cells) == (len(SIZES), 0, 1)
    assert winners.far_at_common_level(quiet, [quiet, both]) == ([], 1.0)
    assert winners.far_at_common_level(slow, [quiet]) == ([], 0.0)
    assert [bar.holds for bar in winners.verdict([pair, at_slow], [], 0.5)[3:]] == [False, False]


def test_algorithms_are_told_apart_by_segment_and_radix(tmp_path: Path) -> None:
    variants: list[dict[str, Any]] = [{}, {"segment_bytes": 4096}, {"radix": 3}, {"algorithm": "ring"}]
    folder = stored(tmp_path / "1-quiet", *(visits("bcast", [8], FAST_S, **variant) for variant in variants))
    assert len(collectives_at_levels(folder)[0].times["bcast", 8]) == 4

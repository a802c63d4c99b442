"""From campaigns made of synthetic records, whose times follow a known law, to machines."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from tests import factories
from tests.factories import refusing

from hockney.errors import RequestError
from hockney.machine.build import build, with_times
from hockney.machine.file import Entry, Machine, dumps, loads
from hockney.records.record import Record
from hockney.records.series import Caches
from hockney.records.table import from_records, load, write
from hockney.report.make import make

SIZES = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, *(2**k for k in range(10, 23)))
BREAK_B = 4096


def law(size_B: int, scale: float = 1.0) -> float:
    """0.2 µs + n / 10 GB/s up to 4 KiB, 1 µs + n / 12.5 GB/s above; seconds."""
    return scale * (0.2e-6 + size_B / 10e9 if size_B <= BREAK_B else 1e-6 + size_B / 12.5e9)


def record(size_B: int, **more: Any) -> Record:
    value = more.pop("value", None) or law(size_B)
    return factories.record(
        size_B,
        value,
        within=0.01,
        **{
            "system": "twin",
            "mpi": "Open MPI 5",
            "mapping": "core",
            "variant": "default",
            "locality": "package",
            "cache": "warm",
            "ranks": 2,
            "pair": "0-1",
            "pairs": 1,
            "samples": [value] * 3,
            "disturbed": 1,
            "disturbed_at": [0],
            "stop": "interval",
            "verified": True,
            "oversubscribed": False,
            "launch": "a",
            **more,
        },
    )


def sweep(**more: Any) -> list[Record]:
    scale = more.pop("scale", 1.0)
    return [record(size, value=law(size, scale), **more) for size in SIZES]


def campaign(folder: Path, records: list[Record], *launches: dict[str, Any]) -> Path:
    return factories.campaign(folder / "demo", records, *launches)


def only(machine: Machine) -> Entry:
    (entry,) = machine.point_to_point
    return entry


def test_every_configuration_becomes_an_entry(tmp_path: Path) -> None:
    records = [
        *sweep(locality="network"),
        *sweep(),
        *sweep(variant="tcp", scale=3),
        *sweep(cache="off", scale=2),
        *sweep(operation="bandwidth", window=64),
    ]
    machine = build(campaign(tmp_path, records))
    found = [(one.operation, one.locality, one.variant, one.cache) for one in machine.point_to_point]
    assert found == [
        ("pingpong", "package", "default", "warm"),
        ("pingpong", "package", "tcp", "warm"),
        ("pingpong", "package", "default", "off"),
        ("pingpong", "network", "default", "warm"),
        ("bandwidth", "package", "default", "warm"),
    ]
    assert machine.point_to_point[-1].other["window"] == "64"
    assert machine.system.name == "twin"


def test_the_piecewise_fit_finds_the_law(tmp_path: Path) -> None:
    entry = only(build(campaign(tmp_path, sweep())))
    first, *_, last = entry.fits["piecewise"].regimes
    # The data follow the law exactly; what is left is the solver's tolerance.
    assert first.alpha_s.value == pytest.approx(0.2e-6, rel=0.01)
    assert 1 / last.beta_s_per_B.value == pytest.approx(12.5e9, rel=0.01)
    assert {"hockney", "least_squares", "asymptotic"} <= set(entry.fits)


def test_the_smallest_caches_are_kept_with_the_measurements(tmp_path: Path) -> None:
    def rank(host: str, last_B: int) -> dict[str, Any]:
        sizes_B = {1: 32768, 2: 2**20, 3: last_B}
        caches = [{"level": n, "type": "Unified", "size_B": size, "shared": [0]} for n, size in sizes_B.items()]
        return {"rank": 0, "host": host, "cpu": 0, "caches": caches}

    launch = {"id": "a", "ranks": [rank("n1", 2**25), rank("n2", 2**24)]}
    machine = loads(dumps(build(campaign(tmp_path / "known", sweep(), launch))), tmp_path)
    assert only(machine).measurements.series.caches == only(machine).measurements.caches == Caches(2**24, 2**20)
    assert only(build(campaign(tmp_path / "unknown", sweep()))).measurements.caches is None


def test_a_model_that_cannot_be_fitted_leaves_its_reason(tmp_path: Path) -> None:
    entry = only(build(campaign(tmp_path, [record(8)])))
    assert "piecewise" not in entry.fits
    assert any(note.startswith("piecewise: ") for note in entry.notes)


def test_pairs_of_a_locality_are_pooled_and_their_spread_is_kept(tmp_path: Path) -> None:
    records = [*sweep(), *sweep(pair="10-11", scale=1.2), *sweep(pair="2-3", scale=1.1)]
    entry = only(build(campaign(tmp_path, records)))
    assert entry.pairs == ["0-1", "2-3", "10-11"]
    point = entry.measurements.points[0]
    assert point.time_s == pytest.approx(1.1 * 0.2e-6)
    assert point.low_s == pytest.approx(0.99 * 0.2e-6)
    assert point.high_s == pytest.approx(1.01 * 1.2 * 0.2e-6)
    assert (point.records, point.samples, point.disturbed, point.stop) == (3, 9, 3, ["interval"])


def test_launches_of_a_point_combine(tmp_path: Path) -> None:
    records = [*sweep(), *sweep(repetition=1, scale=1.5, launch="b", stop="budget")]
    entry = only(build(campaign(tmp_path, records)))
    point = entry.measurements.points[0]
    assert point.time_s == pytest.approx(math.sqrt(1.5) * 0.2e-6)
    assert (point.records, point.samples, point.stop) == (2, 6, ["budget", "interval"])
    assert entry.measurements.launches == ["a", "b"]


def test_of_the_visits_of_a_point_the_median_stands(tmp_path: Path) -> None:
    others = [record(8, value=1e-7, disturbed=0), record(8, value=1e-3, disturbed=30, stop="budget")]
    points = only(build(campaign(tmp_path, [*sweep(), *others]))).measurements.points
    point = next(point for point in points if point.size_B == 8)
    assert point.time_s == pytest.approx(law(8))
    assert (point.records, point.stop) == (1, ["interval"])


@pytest.mark.parametrize(("marks", "expected"), [((True, False), True), ((False,), False), ((None,), None)])
def test_one_oversubscribed_record_marks_the_entry(tmp_path: Path, marks: Any, expected: bool | None) -> None:
    records = [one for mark in marks for one in sweep(oversubscribed=mark, repetition=int(bool(mark)))]
    assert only(build(campaign(tmp_path, records))).oversubscribed is expected


def test_the_eager_limit_comes_from_the_launch(tmp_path: Path) -> None:
    launch = {
        "id": "a",
        "eager_limit_B": {"shared_memory": 4096, "network": 65536},
        "breaks_B": {"shared_memory": [256, 2112]},
    }
    machine = build(campaign(tmp_path, [*sweep(), *sweep(locality="network")], launch))
    assert [one.eager_limit_B for one in machine.point_to_point] == [4096, 65536]
    assert [one.breaks_B for one in machine.point_to_point] == [[256, 2112], []]


def test_overheads_are_kept_with_the_pingpong_they_belong_to(tmp_path: Path) -> None:
    records = [
        *sweep(),
        *(record(size, operation="send_overhead", value=5e-8, disturbed=2) for size in SIZES),
        *(record(size, operation="receive_overhead", value=4e-8) for size in SIZES),
    ]
    entry = only(build(campaign(tmp_path, records)))
    overheads = entry.measurements.overheads
    assert {name: points[0].time_s for name, points in overheads.items()} == {
        "send_overhead": pytest.approx(5e-8),
        "receive_overhead": pytest.approx(4e-8),
    }
    assert overheads["send_overhead"][3].disturbed == 2


def test_warnings_of_a_damaged_campaign_are_kept(tmp_path: Path) -> None:
    path = campaign(tmp_path, sweep())
    with (path / "records.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"source": "hock\n')
    warning = build(path).provenance.warnings[-1]
    assert f"records.jsonl:{len(SIZES) + 1}" in warning


def test_what_the_report_warns_of_the_machine_file_warns_of(tmp_path: Path) -> None:
    records = [*sweep(), record(8, value=6.1 * law(8)), record(2**22, stop="budget", bytes=2**23)]
    path = campaign(tmp_path, records, {"id": "a", "warnings": ["the governor is powersave"]})
    told = build(path).provenance.warnings
    assert len(told) == 4
    for text in (" points are noisy", "by their time budget", "by up to 6 ×", "powersave"):
        assert any(text in one for one in told), text
    assert make(path).warnings == told, "each once"


def test_a_table_gives_the_same_fits_as_its_campaign(tmp_path: Path) -> None:
    path = campaign(tmp_path, [*sweep(), *sweep(pair="2-3", scale=1.1)])
    write(load(path), tmp_path / "samples.csv")
    of_table = only(build(tmp_path / "samples.csv"))
    of_campaign = only(build(path))
    points = of_table.measurements.points
    # The table keeps twelve digits.
    assert [point.time_s for point in points] == pytest.approx(
        [point.time_s for point in of_campaign.measurements.points], rel=1e-11
    )
    assert set(of_table.fits) == set(of_campaign.fits)
    assert points[0].records == 2
    assert of_table.measurements.launches == []


def test_the_machine_survives_its_file(tmp_path: Path) -> None:
    machine = build(campaign(tmp_path, [*sweep(), *sweep(variant="tcp")]))
    written = dumps(machine)
    assert dumps(loads(written, tmp_path)) == written


def imported(size_B: int, operation: str, statistic: str, value: float, **more: Any) -> Record:
    known = {"source": "osu", "operation": operation, "statistic": statistic, "mapping": "by node"}
    return factories.record(size_B, value, **known | more)


@pytest.mark.parametrize(
    ("operation", "statistic", "value", "pairs", "expected_s"),
    [
        # n bytes at B bytes a second take n / B.
        ("bandwidth", "bandwidth_B_per_s", 2e9, 1, 1000 / 2e9),
        ("bandwidth", "bandwidth_B_per_s", 2e9, None, 1000 / 2e9),
        # Four pairs share what is printed: each moves its message at a quarter of it.
        ("bandwidth", "bandwidth_B_per_s", 8e9, 4, 1000 / 2e9),
        # Both directions count: in one message's time two pass.
        ("bidirectional", "bandwidth_B_per_s", 4e9, 1, 1000 / 2e9),
        ("bandwidth", "message_rate_per_s", 2e6, 1, 0.5e-6),
        ("bidirectional", "message_rate_per_s", 8e6, 2, 0.5e-6),
    ],
)
def test_rates_of_other_programs_become_times(
    operation: str, statistic: str, value: float, pairs: int | None, expected_s: float
) -> None:
    frame = with_times(from_records([imported(1000, operation, statistic, value, pairs=pairs)]))
    times = frame.loc[frame["statistic"] == "one_way", "time_s"].tolist()
    assert times == [pytest.approx(expected_s)]


def test_where_both_rates_are_printed_the_message_rate_counts() -> None:
    # 0.01 MB/s is what OSU prints for anything from 0.005 to 0.015.
    both = [
        imported(1, "bandwidth", "bandwidth_B_per_s", 1e4, pairs=1),
        imported(1, "bandwidth", "message_rate_per_s", 1.4e4, pairs=1),
    ]
    frame = with_times(from_records(both))
    assert frame.loc[frame["statistic"] == "one_way", "time_s"].tolist() == [pytest.approx(1 / 1.4e4)]


def test_our_own_rates_are_not_counted_twice() -> None:
    frame = from_records([record(8, operation="bandwidth", window=64)])
    assert len(frame) == 3, "a time and two rates"
    assert len(with_times(frame)) == 3


def test_an_imported_campaign_without_localities(tmp_path: Path) -> None:
    sizes = SIZES[1:]
    records = [
        *(imported(size, "pingpong", "one_way", law(size)) for size in sizes),
        *(imported(size, "pingpong", "one_way", law(size, 2), mapping="by core") for size in sizes),
        *(imported(size, "bandwidth", "bandwidth_B_per_s", size / law(size)) for size in sizes),
        *(imported(size, "bcast", "mean_over_ranks", law(size)) for size in sizes),
    ]
    machine = build(campaign(tmp_path, records, {"id": "", "imported": "a.txt"}))
    found = [(one.operation, one.locality, one.mapping) for one in machine.point_to_point]
    assert found == [("pingpong", None, "by node"), ("pingpong", None, "by core"), ("bandwidth", None, "by node")]
    points = machine.point_to_point[2].measurements.points
    assert [point.time_s for point in points] == pytest.approx([law(size) for size in sizes])
    assert points[0].low_s is None, "the source gave no interval"


def test_a_campaign_of_collectives_on_unknown_ranks_is_refused(tmp_path: Path) -> None:
    path = campaign(tmp_path, [imported(8, "bcast", "mean_over_ranks", 1e-6)])
    with refusing("no times that a model is of", "it holds bcast"):
        build(path)


def test_an_empty_campaign_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="no times that a model is of"):
        build(campaign(tmp_path, []))


def test_a_table_with_a_word_of_its_own_for_a_locality(tmp_path: Path) -> None:
    frame = from_records([record(8)]).assign(locality="socket")
    write(frame, tmp_path / "samples.csv")
    with pytest.raises(RequestError, match="unknown locality 'socket'"):
        build(tmp_path / "samples.csv")


def test_progress_is_told_every_entry(tmp_path: Path) -> None:
    told: list[str] = []
    build(campaign(tmp_path, [*sweep(), *sweep(variant="tcp")]), told.append)
    assert len(told) == 2
    assert told[0].startswith("1 of 2: ")
    assert told[1].startswith("2 of 2: ")
    assert "tcp" in told[1]


def test_samples_are_those_of_the_rows_that_say(tmp_path: Path) -> None:
    columns = "system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,statistic,time_us,repetition,samples"
    rows = [(8, 0, "3"), (8, 1, ""), (8, 2, "4"), (16, 0, ""), (16, 1, "")]
    start = "s,m,pingpong,default,core,1,2,2"
    lines = [f"{start},{size_B},one_way,1.5,{number},{samples}" for size_B, number, samples in rows]
    (tmp_path / "t.csv").write_text("\n".join([columns, *lines, ""]), encoding="utf-8")
    first, second = only(build(tmp_path / "t.csv")).measurements.points
    assert (first.records, first.samples) == (3, 7)
    assert (second.records, second.samples) == (2, None)

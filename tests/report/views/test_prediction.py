"""Predictions as text and as data."""

from __future__ import annotations

import json
from pathlib import Path

from hockney.machine.file import EntryModes, load
from hockney.machine.select import select_entry
from hockney.predict.message import predict_message
from hockney.report.views.prediction import as_data, as_text

FILE = Path(__file__).parents[2] / "machine" / "data" / "version1.json"
MACHINE = load(FILE)


def test_text() -> None:
    entry = select_entry(MACHINE, {"operation": "pingpong"})
    found = [predict_message(entry, size, "piecewise") for size in (1000, 2 * 1048576)]
    assert as_text("heading", entry, found).splitlines() == [
        "heading",
        # 0.3 µs; 0.3/1.1 = 0.27272…, 0.3 · 1.1 = 0.33; 1000 B / 0.3 µs = 3.33 GB/s
        "1000 B: 0.3 µs, 95 % interval 0.273 µs to 0.33 µs, 3.33 GB/s",
        "  T(n) = 0.2 µs + n / 10 GB/s for 0 ≤ n ≤ 4 KiB (eager)",
        # 1 + 167.77216 = 168.77 µs; half a step of 4 beyond: 1.1^1.5 = 1.1537, 146.3 and 194.7; 12.43 GB/s
        "2 MiB: 169 µs, 95 % interval 146 µs to 195 µs, 12.4 GB/s, 2 × beyond the largest measured size",
        "  T(n) = 1 µs + n / 12.5 GB/s for n > 4 KiB (rendezvous)",
    ]


def test_an_empty_message_has_no_bandwidth_to_print() -> None:
    entry = select_entry(MACHINE, {"operation": "pingpong"})
    assert "B/s" not in as_text("", entry, [predict_message(entry, 0, "piecewise")]).splitlines()[1]


def test_oversubscribed_measurements_are_said_to_be_no_latency() -> None:
    entry = select_entry(MACHINE, {"operation": "pingpong", "variant": "tcp"})
    found = [predict_message(entry, 8, "piecewise")]
    sentence = "measured with more ranks than cores: not a latency"
    assert as_text("heading", entry, found).splitlines()[1] == sentence
    data = as_data(entry, "piecewise", found)
    assert data["oversubscribed"] is True
    assert data["warnings"] == [sentence]


def test_what_concerns_the_size_is_repeated() -> None:
    entry = select_entry(MACHINE, {"operation": "pingpong"}).model_copy(deep=True)
    # Of two pairs; the worse counts.
    entry.modes = [
        EntryModes(smallest_B=4096, largest_B=65536, times_as_long=times, share=0.25) for times in (1.2, 1.4)
    ]
    modes = "measured in two modes around it: 1.4 times as long 25% of the time"
    known = entry.measurements.points[0]
    points = [known.model_copy(update={"size_B": size_B}) for size_B in (8, 64, 4096)]
    points[2].samples, points[2].disturbed = 100, 6
    points[1].low_s, points[1].high_s = 0.5 * known.time_s, 1.5 * known.time_s
    points[2].low_s = points[2].high_s = points[0].low_s = points[0].high_s = known.time_s
    entry.measurements.points = points
    found = [predict_message(entry, size, "piecewise") for size in (8, 100, 4096)]
    text = as_text("heading", entry, found).splitlines()
    assert [line.strip() for line in text if "marked" in line or "modes" in line] == [
        "measured nearby, 64 B is marked: wide",
        "measured nearby, 4 KiB is marked: disturbed",
        modes,
        "measured nearby, 4 KiB is marked: disturbed",
    ]
    assert as_data(entry, "piecewise", found)["warnings"] == [
        "100 B: measured nearby, 64 B is marked: wide",
        "100 B: measured nearby, 4 KiB is marked: disturbed",
        f"4 KiB: {modes}",
        "4 KiB: measured nearby, 4 KiB is marked: disturbed",
    ]


def test_data_holds_what_a_program_needs() -> None:
    entry = select_entry(MACHINE, {"operation": "pingpong", "locality": "network", "variant": "default"})
    data = as_data(entry, "hockney", [predict_message(entry, 3 * 1048576, "hockney")])
    json.dumps(data, allow_nan=False)
    assert (data["operation"], data["locality"], data["model"]) == ("pingpong", "network", "hockney")
    (prediction,) = data["predictions"]
    assert prediction["extrapolated"] is True
    assert prediction["factor"] == 3
    assert prediction["regime"]["min_B"] == 0
    assert data["warnings"] == ["3 MiB: 3 × beyond the largest measured size"]


def test_a_correction_is_stated_with_its_weight_and_what_it_corrects() -> None:
    entry = select_entry(load(FILE), {"operation": "pingpong"})
    fit = entry.fits["piecewise"]
    assert fit.quality is not None
    fit.quality.correction_weight = 1.0
    for point in entry.measurements.points:
        point.time_s *= 1.05
    found = [predict_message(entry, 4096, "piecewise")]
    assert as_text("", entry, found).splitlines()[3] == (
        "  that is 0.61 µs; interpolation between the measured sizes, of weight 1, corrects it by +5.0%"
    )
    [row] = as_data(entry, "piecewise", found)["predictions"]
    assert round(row["correction"], 9) == 0.05
    assert row["weight"] == 1.0
    assert row["readable_s"] < row["time_s"]

"""Messages by the models of one entry: as values, and as they are printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.command_line import outcome
from tests.factories import VERSION_1 as FILE

from hockney.machine.file import EntryModes, Machine, load, save
from hockney.machine.select import select_entry
from hockney.predict.messages import PredictedMessages, predict_messages
from hockney.predict.options import Message


@pytest.fixture
def machine() -> Machine:
    """A new one for each test: some change it."""
    return load(FILE)


def asked(machine: Machine, *sizes_B: int, **options: Any) -> PredictedMessages:
    """The answer for a ping-pong."""
    return predict_messages("pingpong", Message(sizes_B=list(sizes_B), **options).holding(machine))


def printed(machine: Machine, folder: Path, *words: str) -> list[str]:
    """The lines of `hockney predict pingpong`."""
    save(machine, folder / "machine.json")
    code, out, err = outcome("predict", "pingpong", "--machine", folder / "machine.json", *words)
    assert code == 0
    return (out + err).splitlines()


def test_what_is_printed(machine: Machine, tmp_path: Path) -> None:
    assert printed(machine, tmp_path, "--bytes", "1kB,2MiB,0B") == [
        "pingpong, locality package, variant default, cache warm — piecewise",
        # 0.3 µs; 0.3/1.1 = 0.27272…, 0.3 · 1.1 = 0.33; 1000 B / 0.3 µs = 3.33 GB/s
        "1000 B: 0.3 µs, 95 % interval 0.273 µs to 0.33 µs, 3.33 GB/s",
        "  T(n) = 0.2 µs + n / 10 GB/s for 0 ≤ n ≤ 4 KiB (eager)",
        # 1 + 167.77216 = 168.77 µs; half a step of 4 beyond: 1.1^1.5 = 1.1537, 146.3 and 194.7; 12.43 GB/s
        "2 MiB: 169 µs, 95 % interval 146 µs to 195 µs, 12.4 GB/s, 2 × beyond the largest measured size",
        "  T(n) = 1 µs + n / 12.5 GB/s for n > 4 KiB (rendezvous)",
        # An empty message has no bandwidth.
        "0 B: 0.2 µs, 95 % interval 0.182 µs to 0.22 µs",
        "  T(n) = 0.2 µs + n / 10 GB/s for 0 ≤ n ≤ 4 KiB (eager)",
        "warning: 2 MiB: 2 × beyond the largest measured size",
    ]


def test_what_concerns_the_size_is_repeated(machine: Machine, tmp_path: Path) -> None:
    entry = select_entry(machine, {"operation": "pingpong"})
    # Of two pairs; the worse counts.
    entry.modes = [
        EntryModes(smallest_B=4096, largest_B=65536, times_as_long=times, share=0.25) for times in (1.2, 1.4)
    ]
    modes = "measured in two modes around it: 1.4 times as long 25 % of the time"
    known = entry.measurements.points[0]
    points = [known.model_copy(update={"size_B": size_B}) for size_B in (8, 64, 4096)]
    points[2].samples, points[2].disturbed = 100, 6
    points[1].low_s, points[1].high_s = 0.5 * known.time_s, 1.5 * known.time_s
    points[2].low_s = points[2].high_s = points[0].low_s = points[0].high_s = known.time_s
    entry.measurements.points = points
    concerns = {
        8: [],
        100: ["the measurement at 64 B is noisy: wide", "the measurement at 4 KiB is noisy: disturbed"],
        4096: [modes, "the measurement at 4 KiB is noisy: disturbed"],
    }
    answer = asked(machine, *concerns)
    assert {each.size_B: each.concerns for each in answer.predictions} == concerns
    assert answer.warnings == [
        *(f"100 B: {text}" for text in concerns[100]),
        *(f"4 KiB: {text}" for text in concerns[4096]),
    ]
    lines = printed(machine, tmp_path, "--bytes", "8B,100B,4KiB")
    assert [line for line in lines if line.startswith("warning: ")] == [
        f"warning: {text}" for text in answer.warnings
    ]


def test_a_correction_is_stated_with_what_it_corrects(machine: Machine, tmp_path: Path) -> None:
    entry = select_entry(machine, {"operation": "pingpong"})
    fit = entry.fits["piecewise"]
    assert fit.quality is not None
    fit.quality.correction_weight = 1.0
    for point in entry.measurements.points:
        point.time_s *= 1.05
    assert printed(machine, tmp_path, "--bytes", "4KiB")[3] == (
        "  interpolation between the measured sizes corrects that by +5 %"
    )
    (row,) = asked(machine, 4096).predictions
    assert (round(row.correction, 9), row.weight) == (0.05, 1.0)
    assert row.readable_s < row.time_s

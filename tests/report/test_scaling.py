"""The figure of a scaling study: what is drawn where."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from hockney.errors import RequestError
from hockney.models.scaling.study import ScalingStudy, study
from hockney.models.scaling.times import Times
from hockney.report.page import Contribution, Section
from hockney.report.scaling import add_laws, scaling, write


def made() -> ScalingStudy:
    # T(1) = 8 s; speed-ups 1, 2 (of 3.9, 4 and 5 s) and 2.5
    return study(Times(np.array([1.0, 2, 2, 2, 4]), np.array([8.0, 3.9, 4.0, 5.0, 3.2])), "amdahl")


def line(axes: Axes, label: str) -> Line2D:
    return next(one for one in axes.lines if one.get_label() == label)


def test_speedup_and_efficiency_stand_beside_the_ideal() -> None:
    left, right = scaling({"": made()}).figure.axes
    assert np.asarray(line(left, "measured (median)").get_ydata()) == pytest.approx([1, 2, 2.5])
    assert np.asarray(line(right, "measured (median)").get_ydata()) == pytest.approx([1, 1, 0.625])
    ideal = line(left, "ideal")
    np.testing.assert_array_equal(ideal.get_xdata(), ideal.get_ydata())
    assert set(np.asarray(line(right, "ideal").get_ydata())) == {1.0}


def test_every_time_has_a_dot() -> None:
    dots = next(one for one in scaling({"": made()}).figure.axes[0].lines if one.get_marker() == ".")
    assert np.asarray(dots.get_ydata()) == pytest.approx([1, 8 / 3.9, 2, 1.6, 2.5])


def test_a_law_is_drawn_against_the_measured_baseline() -> None:
    one = made()
    left, right = scaling({"": one}).figure.axes
    fit = one.fits["amdahl"]
    serial = fit.theta[0]
    time_s = fit.serial_time_s.value * (serial + (1 - serial) / 4)
    assert np.asarray(line(left, "amdahl").get_ydata())[-1] == pytest.approx(8 / time_s)
    assert np.asarray(line(right, "amdahl").get_ydata())[-1] == pytest.approx(2 / time_s)
    assert right.get_ylim()[1] > float(np.max(np.asarray(line(right, "amdahl").get_ydata())))


@pytest.mark.parametrize(("counts", "ticks"), [([1, 3, 6, 24], [1, 3, 6, 24]), (range(1, 13), [1, 2, 4, 8])])
def test_ticks_do_not_touch(counts: list[int], ticks: list[int]) -> None:
    processes = np.array(list(counts), dtype=np.float64)
    figure = scaling({"": study(Times(processes, 10 / processes**0.8), "amdahl")}).figure
    assert list(figure.axes[0].get_xticks()) == ticks


def test_only_files_that_can_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="cannot draw a figure"):
        write(tmp_path / "a.pdf", {"": made()})
    write(tmp_path / "a.html", {"": made()})
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "Strong scaling to 4 processes" in page


def test_several_curves_share_a_figure(tmp_path: Path) -> None:
    flat = study(Times(np.array([1.0, 2, 8]), np.array([8.0, 8.0, 8.0])), "amdahl")
    left, right = scaling({"steep": made(), "flat": flat}).figure.axes
    assert np.asarray(line(left, "steep").get_ydata()) == pytest.approx([1, 2, 2.5])
    assert np.asarray(line(right, "flat").get_ydata()) == pytest.approx([1, 1 / 2, 1 / 8])
    assert np.asarray(line(left, "ideal").get_xdata())[-1] == pytest.approx(8)
    write(tmp_path / "b.svg", {"steep": made(), "flat": flat})


def test_laws_are_tried_on_three_numbers_of_processes() -> None:
    counts = np.array([1.0, 2, 4, 8, 16])
    # Amdahl's law with a tenth that is serial; the little noise leaves an interval.
    time_s = (0.1 + 0.9 / counts) * (1 + 0.001 * np.array([1, -1, 1, -1, 1]))
    curves = {"long": study(Times(counts, time_s)), "short": study(Times(counts[:2], time_s[:2]))}
    page, made = Section("app-x", "X", ""), Contribution()
    add_laws(curves, page, made)
    assert [drawing.name for drawing in page.figures] == ["app-x-strong", "app-x-law-1"]
    (table,) = page.tables
    assert {row[0] for row in table.rows} == {"long"}
    assert page.note == " No law of scaling is tried on fewer than 3 numbers of ranks: short."
    (finding,) = made.findings
    assert finding.anchor == table.id
    assert finding.text.startswith("long: by amdahl, serial fraction 0.1")

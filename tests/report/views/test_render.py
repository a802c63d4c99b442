"""A machine as text, tables, LaTeX and answer; what is expected follows from the fixture."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.capabilities import lacking
from tests.factories import not_none, version_1
from tests.processes import captured

from hockney.machine.file import Machine
from hockney.machine.provenance import warnings_of
from hockney.machine.select import matching
from hockney.models.views import VIEWS
from hockney.report.views.in_short import as_summary
from hockney.report.views.modelled import ShowAnswer
from hockney.report.views.render import (
    as_formulas,
    as_latex,
    as_tables,
    chosen,
)


@pytest.fixture
def machine() -> Machine:
    return version_1()


def part(machine: Machine, **asked: str) -> Machine:
    return machine.model_copy(update={"point_to_point": matching(machine, asked)})


def test_formulas_with_their_heading(machine: Machine) -> None:
    text = as_formulas(chosen(part(machine, operation="pingpong", locality="network"), "piecewise"))
    assert text.split("\n\n") == [
        "twin: Open MPI 5.0.11",
        "pingpong, locality network, variant default, cache warm — piecewise\n"
        "  T(n) = 1.5 µs + n / 10 GB/s for 0 ≤ n ≤ 4 KiB (eager)\n"
        "  T(n) = 1 µs + n / 12.5 GB/s for n > 4 KiB (rendezvous)",
        "pingpong, locality network, variant tcp, cache warm — piecewise "
        "(measured with more ranks than cores: not a latency)\n"
        "  T(n) = 12 µs + n / 1 GB/s for 0 ≤ n ≤ 4 KiB (eager)\n"
        "  T(n) = 20 µs + n / 2.5 GB/s for n > 4 KiB (rendezvous)",
    ]


def test_a_model_with_a_negative_parameter_is_flagged(machine: Machine) -> None:
    text = as_formulas(chosen(part(machine, cache="off"), "least_squares"))
    assert "−113 µs" not in text
    assert "no physical line: a parameter is negative" in text


def test_an_entry_without_any_fit_says_why(machine: Machine) -> None:
    machine.point_to_point = [machine.point_to_point[0].model_copy(update={"fits": {}})]
    assert "not fitted\n  loggp: no send_overhead was measured" in as_formulas(machine)


def test_the_tables_of_an_entry_are_those_of_the_report(machine: Machine) -> None:
    entry = next(entry for entry in machine.point_to_point if entry.cache == "off")
    entry.variant = "tcp [eth0]"
    regimes, quality = as_tables(part(machine, cache="off"))
    assert regimes.caption.startswith("pingpong, locality package, variant tcp [eth0], cache off\nParameters")
    # α = 0.4 µs ± 5 %; β = 1 / (10 GB/s) ± 5 %, so that 1/β lies within 10/1.05 and 10/0.95 GB/s.
    piecewise = [row for row in regimes.rows if row[0] == "piecewise"]
    assert piecewise[0][2:] == ["0.4 µs", "0.38 to 0.42 µs", "10 GB/s", "9.52 to 10.5 GB/s"]
    assert [row[0] for row in quality.rows] == ["hockney", "least_squares", "piecewise"]
    assert quality.rows[0][2] == "1.2 %"


def test_latex_is_a_document_with_an_equation_for_each_fit(machine: Machine) -> None:
    machine.point_to_point[0].variant = "a_b & 50%"
    text = as_latex(chosen(machine, "piecewise"))
    assert text.startswith("\\documentclass")
    assert "\\usepackage{amsmath}" in text, "cases comes from there"
    assert text.count("\\begin{cases}") == text.count("\\end{cases}") == len(machine.point_to_point)
    assert text.count(r"\[") == text.count(r"\]") == len(machine.point_to_point)
    assert text.count("{") == text.count("}")
    assert r"a\_b \& 50\%" in text


needs_pdflatex = pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason=lacking("pdflatex", "it is not on the PATH")
)


def expect_compiled(folder: Path, text: str) -> None:
    """Fails where LaTeX refuses the document."""
    (folder / "model.tex").write_text(text, encoding="utf-8")
    argv = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "model.tex"]
    done = captured(argv, cwd=folder, errors="replace", timeout=60)
    assert done.returncode == 0, done.stdout[-2000:]


@needs_pdflatex
def test_the_latex_document_compiles(machine: Machine, tmp_path: Path) -> None:
    machine.point_to_point[0].variant = r"a_b & 50% {x} ~^ \\c $ #1"
    expect_compiled(tmp_path, as_latex(machine))


def test_the_answer_has_each_model_with_its_formula(machine: Machine) -> None:
    data = ShowAnswer.of("file", machine, [], [], VIEWS)
    entry = data.entries[0]
    assert (entry.operation, entry.locality, entry.smallest_B, entry.largest_B) == (
        "pingpong",
        "package",
        0,
        2**20,
    )
    fit = entry.models["piecewise"]
    assert fit.latency_s.value == 2e-7
    assert not_none(fit.bandwidth_B_per_s).value == pytest.approx(12.5e9)
    assert fit.formula[0] == "T(n) = 0.2 µs + n / 10 GB/s for 0 ≤ n ≤ 4 KiB (eager)"
    assert data.warnings == warnings_of(machine)
    assert len(data.warnings) == 1


def test_an_eager_limit_of_nothing_is_a_limit(machine: Machine) -> None:
    entry = machine.point_to_point[0]
    machine.point_to_point[:] = [entry.model_copy(update={"eager_limit_B": 0})]
    assert "eager limit  0 B" in as_summary(machine)
    machine.point_to_point[:] = [entry.model_copy(update={"eager_limit_B": None})]
    assert "eager limit" not in as_summary(machine)

"""`hockney show`: formulas, tables, LaTeX and JSON of a machine file, and what may be wrong with a request."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import Run
from tests.factories import VERSION_1 as MACHINE
from tests.factories import verb

run = verb("show")


def test_another_model_and_all_models(run: Run) -> None:
    _, out, _ = run(MACHINE, "--where", "cache=off", "--model", "hockney")
    assert out.count("T(n)") == 1
    _, out, _ = run(MACHINE, "--where", "cache=off", "--model", "all")
    # hockney has one regime, piecewise has two; least_squares has a negative latency, and is no line.
    assert out.count("T(n)") == 3
    assert out.count("no physical line") == 1


def test_a_summary_is_the_default(run: Run) -> None:
    assert run(MACHINE, "--format", "summary") == run(MACHINE)
    assert "latency" in run(MACHINE)[1]
    assert "T(n)" not in run(MACHINE)[1]


def test_latex_goes_to_standard_output_unwrapped(run: Run) -> None:
    _, out, _ = run(MACHINE, "--format", "latex", "--where", "cache=off")
    assert out.startswith("\\documentclass{article}\n")
    assert "  0.4\\,\\mu\\mathrm{s} + \\frac{n}{10\\,\\mathrm{GB/s}} & \\text{for } 0 \\le n \\le 4" in out


def test_json_both_ways(run: Run) -> None:
    _, by_option, _ = run(MACHINE, "--json", "--where", "variant=tcp")
    _, by_format, _ = run(MACHINE, "--format", "json", "--where", "variant=tcp")
    assert by_option == by_format
    (entry,) = json.loads(by_option)["entries"]
    assert entry["oversubscribed"] is True
    assert set(entry["models"]) == {"hockney", "least_squares", "piecewise"}


def test_the_file_defaults_to_machine_json(run: Run) -> None:
    Path("machine.json").write_bytes(MACHINE.read_bytes())
    assert run()[0] == 0


def test_a_file_of_a_newer_hockney(run: Run) -> None:
    Path("machine.json").write_text(json.dumps({"schema_version": 6, "hockney_version": "9"}), encoding="utf-8")
    err = run.refuses()
    assert "has schema version 6; this hockney reads up to version 5" in err


@pytest.mark.parametrize("format_", ["formulas", "table", "latex"])
def test_what_is_to_be_known_of_the_measurement_is_repeated(run: Run, tmp_path: Path, format_: str) -> None:
    data = json.loads(MACHINE.read_text(encoding="utf-8"))
    data["provenance"]["warnings"] = ["The machine changed its speed."]
    (tmp_path / "m.json").write_text(json.dumps(data), encoding="utf-8")
    code, out, err = run("m.json", "--format", format_)
    assert (code, err) == (0, "warning: The machine changed its speed.\n")
    assert "warning" not in out

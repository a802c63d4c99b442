"""`hockney show --view`: fits, effects and collectives in four views, and what may be wrong with a request."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.command_line import Run
from tests.factories import version_1

from hockney.machine.file import save
from hockney.models.base import Parameter
from hockney.models.collectives.base import CollectiveModel, CollectiveRegime, Term
from hockney.models.effects.base import Effect
from hockney.models.views import Statement, Views


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    made = version_1()
    made.effects = [
        Effect(
            effect="matching",
            locality="package",
            parameters={"per_entry_s": Parameter(value=1e-8, unit="s")},
            views=Views(bounded=[Statement(text="T(R) ≤ 10 ns · R", latex=r"T(R) \le 10\,\mathrm{ns} \cdot R")]),
        ),
        Effect(effect="injection", locality="network", not_measurable="there is no second node"),
    ]
    made.collectives = [
        CollectiveModel(
            operation="bcast",
            parameters={"stage": Parameter(value=0.31e-6, unit="s")},
            regimes=[CollectiveRegime(terms=[Term(parameter="stage", growth="log2(P)")])],
            views=Views(exact=[Statement(text="T(P) = 0.31 µs · log₂P", latex=r"T(P) = 0.31 \log_2 P")]),
            source="a paper",
        )
    ]
    save(made, tmp_path / "machine.json")
    return tmp_path / "machine.json"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, machine: Path) -> Run:
    """Run the verb beside the machine file: exit code, standard output, standard error."""
    monkeypatch.chdir(machine.parent)
    return Run("show")


def test_effects_and_published_models_follow_the_formulas(run: Run) -> None:
    out = run.prints("--format", "formulas")
    assert "per_entry_s = 0.01 µs" in out
    assert "not measurable: there is no second node" in out
    assert "exact: T(P) = 0.31 µs · log₂P\n  published: a paper" in out


@pytest.mark.usefixtures("wide")
def test_one_view_of_everything(run: Run) -> None:
    _, out, _ = run("--view", "bounded", "--topology", "torus:8")
    assert "≤ T(n) ≤ (1 µs + C · n / 12.5 GB/s) · 1.1, C = 6 — n > 4 KiB (rendezvous)" in out
    assert "bounded: T(R) ≤ 10 ns · R" in out
    assert "exact:" not in out


def test_all_views_of_one_locality(run: Run) -> None:
    _, out, _ = run("--view", "all", "--locality", "network", "--where", "variant=default", "--model", "hockney")
    words = [line.split(":")[0].strip() for line in out.splitlines() if line.startswith("  ")]
    assert words == ["asymptotic", "dominant", "bounded", "fitted"]


def test_a_collective_with_its_published_model(run: Run) -> None:
    _, out, _ = run("--operation", "bcast")
    assert "bcast — the library\n" in out
    assert "exact: T(P) = 0.31 µs · log₂P" in out
    assert "pingpong" not in out


def test_one_effect(run: Run) -> None:
    _, out, _ = run("--operation", "matching", "--format", "table", "--view", "bounded")
    assert "T(R) ≤ 10 ns · R" in out
    assert "second node" not in out


def test_json_has_views_of_all(run: Run) -> None:
    (entry,) = run.answers("--operation", "pingpong", "--locality", "network", "--where", "variant=default")[
        "entries"
    ]
    assert set(entry["models"]["piecewise"]["views"]) == {"asymptotic", "dominant", "bounded", "exact"}
    assert entry["models"]["piecewise"]["views"]["exact"][1]["where"] == "n > 4 KiB (rendezvous)"
    found = run.answers("--view", "exact", "--operation", "bcast")
    assert found["entries"] == []
    (bcast,) = found["collectives"]
    assert (bcast["operation"], [*bcast["views"]]) == ("bcast", ["exact"])
    assert [one["effect"] for one in run.answers()["effects"]] == ["matching", "injection"]


def test_latex_has_the_view(run: Run) -> None:
    _, out, _ = run("--format", "latex", "--view", "exact", "--operation", "bcast")
    assert r"\paragraph{bcast --- the library}" in out
    assert r"\[ T(P) = 0.31 \log_2 P" in out
    assert out.endswith("\\end{document}\n")


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (
            ["--operation", "gather"],
            "no model of gather in the machine file",
            "there: bcast; `hockney predict gather",
        ),
        (["--operation", "synchronisation"], "no effect 'synchronisation'", "injection, matching"),
        (["--view", "bounded", "--topology", "moebius:4"], "names no topology", "torus"),
        (["--view", "coarse"], "unknown --view 'coarse'", "known: asymptotic, dominant"),
    ],
)
def test_a_wrong_word_is_one_line_with_the_right_ones(
    run: Run, arguments: list[str], message: str, hint: str
) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err.splitlines()[0]
    assert hint in err.splitlines()[1]


def test_published_digits_and_reasons_for_missing_views(run: Run) -> None:
    _, out, _ = run("bluegene_p", "--operation", "pingpong", "--format", "formulas")
    assert "T(n) = 9.8 µs + n / 374.5 MB/s for n > 1 KiB" in out
    _, out, _ = run("orfeo_thin", "--view", "bounded", "--locality", "network", "--operation", "pingpong")
    blocks = out.strip().split("\n\n")[1:]
    assert len(blocks) == 5
    assert all(
        "bounded: no bounds: neither C nor the error of points left out is known" in block for block in blocks
    )
    _, out, _ = run("bluegene_p", "--view", "dominant", "--operation", "matching")
    assert "dominant: its source states none" in out

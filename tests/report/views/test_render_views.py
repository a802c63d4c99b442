"""Sections as text, tables, LaTeX and answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.factories import version_1
from tests.report.views.test_render import expect_compiled, needs_pdflatex

from hockney.machine.file import Machine
from hockney.models.base import Parameter
from hockney.models.collectives.base import CollectiveModel, CollectiveRegime, Term
from hockney.models.effects.base import Effect
from hockney.models.views import VIEWS, Statement, Views
from hockney.report.views.modelled import ShowAnswer
from hockney.report.views.render import as_latex
from hockney.report.views.render_views import (
    latex_words,
    sections_latex,
    sections_tables,
    sections_text,
)
from hockney.report.views.sections import ModelSection, of_collectives, of_effects, of_fits


@pytest.fixture
def machine() -> Machine:
    made = version_1()
    made.effects = [
        Effect(
            effect="overlap",
            locality="package",
            mpi="Open MPI 5.0.11",
            parameters={"o_s": Parameter(value=3e-7, low=2.8e-7, high=3.1e-7, unit="s")},
            views=Views(
                asymptotic=[Statement(text="o(n) = Θ(1)", latex=r"o(n) = \Theta(1)")],
                exact=[Statement(text="o(n) = 0.3 µs", latex=r"o(n) = 0.3\,\mu\mathrm{s}", where="n ≤ 4 KiB")],
            ),
            points=[{"size_B": 1024, "overlap": 0.91234, "mode": "test", "low": None}],
            not_identified={"O": "measure larger messages"},
            notes=["one pair"],
        ),
        Effect(effect="injection", locality="network", not_measurable="there is no second node"),
    ]
    made.collectives = [
        CollectiveModel(
            operation="barrier",
            parameters={"T": Parameter(value=0.95e-6, unit="s")},
            regimes=[CollectiveRegime(terms=[Term(parameter="T")])],
            views=Views(exact=[Statement(text="T = 0.95 µs", latex=r"T = 0.95\,\mu\mathrm{s}")]),
            as_printed=[Statement(text="T = 0.95 ms", latex=r"T = 0.95\,\mathrm{ms}")],
            source="a paper",
        )
    ]
    return made


def everything(machine: Machine) -> list[ModelSection]:
    return [*of_effects(machine), *of_collectives(machine, None)]


def test_text_has_parameters_the_view_and_what_is_missing(machine: Machine) -> None:
    assert sections_text(everything(machine), ["exact"], whole=True).split("\n\n") == [
        "overlap, locality package, mpi Open MPI 5.0.11\n"
        "  o_s = 0.3 µs (0.28 to 0.31 µs)\n"
        "  exact: o(n) = 0.3 µs — n ≤ 4 KiB\n"
        "  O is not identified: measure larger messages\n"
        "  one pair",
        "injection, locality network\n  not measurable: there is no second node",
        "barrier — the library\n"
        "  T = 0.95 µs\n"
        "  exact: T = 0.95 µs\n"
        "  as printed: T = 0.95 ms\n"
        "  published: a paper",
    ]


def test_views_alone_have_no_parameters(machine: Machine) -> None:
    text = sections_text(of_effects(machine), VIEWS, whole=False)
    assert "o_s" not in text
    assert "  asymptotic: o(n) = Θ(1)\n  exact:" in text


def test_tables_have_statements_parameters_and_points(machine: Machine) -> None:
    tables = sections_tables(everything(machine), ["exact"])
    rows = [list(row) for table in tables for row in table.rows]
    assert ["o_s", "0.3 µs", "0.28 to 0.31 µs"] in rows
    assert ["exact", "o(n) = 0.3 µs", "n ≤ 4 KiB", ""] in rows
    assert ["1024", "0.9123", "test", "—"] in rows
    assert ["", "not measurable: there is no second node", "", ""] in rows
    assert ["as printed", "T = 0.95 ms", "", ""] in rows


def test_data_have_everything_and_only_the_views_asked_for(machine: Machine) -> None:
    overlap, injection = ShowAnswer.of("file", machine, [], everything(machine), ["exact"]).effects
    assert overlap.views.model_dump() == {"exact": machine.effects[0].views.model_dump()["exact"]}
    assert overlap.parameters["o_s"].low == 2.8e-7
    assert injection.not_measurable == "there is no second node"


def test_words_for_latex() -> None:
    assert latex_words("n ≤ 4 KiB") == r"n \ensuremath{\le} 4 KiB"
    assert latex_words("a_b — 50% 漢") == r"a\_b --- 50\% ?"


@needs_pdflatex
def test_the_document_of_all_models_compiles(machine: Machine, tmp_path: Path) -> None:
    machine.effects[0].notes.append(r"a_b & 50% {x} ~^ \c $ #1 ≤ ≥ → × ⌈⌉ α ∛ ² 漢")
    sections = [*of_fits(machine, None), *of_effects(machine), *of_collectives(machine, None)]
    expect_compiled(tmp_path, as_latex(machine, sections_latex(sections, VIEWS)))


def test_a_fitted_formula_is_never_called_exact() -> None:
    views = Views(exact=[Statement(text="T(P) = 2 µs", latex="")])
    for is_fitted, word in ((False, "exact"), (True, "fitted")):
        text = sections_text(
            [ModelSection("bcast", views, CollectiveModel(operation="bcast"), is_fitted=is_fitted)],
            ["exact"],
            False,
        )
        assert f"  {word}: T(P) = 2 µs" in text

"""The page on closed forms is filled from the forms."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from tests.factories import not_none

from hockney.models.collectives.closed_form import ClosedForm, P, alpha, beta, collective_models, n, q

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    spec = not_none(importlib.util.spec_from_file_location("docs_hooks", DOCS / "hooks.py"))
    module = importlib.util.module_from_spec(spec)
    not_none(spec.loader).exec_module(module)
    return module


def test_every_operation_has_its_table(hooks: ModuleType) -> None:
    page = hooks.on_page_markdown((DOCS / "reference/collective-models.md").read_text(encoding="utf-8"))
    assert "<!--" not in page
    for operation, collective in collective_models:
        section = page.partition(f"\n## {operation}\n")[2].partition("\n## ")[0]
        rows = [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")]
        assert rows == list(collective.forms)


@pytest.mark.parametrize(
    ("operation", "text"),
    [
        ("bcast", "| `pipeline` | (P − 2 + S) | (P − 2 + S)·n/S | S + P + n + n P/S | every P |"),
        ("bcast", "| `scatter_allgather` | 2·q | 2·(P − 1)/P·n | log P + n | P = 2^q; otherwise near it |"),
        ("allgather", "| `neighbor_exchange` | P/2 | (P − 1)·n | P + n P | even P, no other |"),
        ("allreduce", "| `linear` | 2·(P − 1) | 2·(P − 1)·n | (P − 1)·n | P + n P | it has no schedule |"),
        ("barrier", "| algorithm | α | Θ | exact for |"),
        ("barrier", "Optimum: T ≥ q α."),
        ("reduce", "Optimum: T ≥ max(q α, n β, (P − 1)/P·n γ)."),
    ],
)
def test_a_row_says_what_the_form_says(hooks: ModuleType, operation: str, text: str) -> None:
    assert text in hooks.closed_forms(operation).splitlines()


def test_a_new_form_has_a_row_without_an_edit_of_the_page(
    hooks: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = ClosedForm((P - 1) * alpha + q * n * beta, source="this test")
    monkeypatch.setitem(collective_models.get("gather").forms, "new", form)
    row = "| `new` | (P − 1) | q·n | P + n log P | it has no schedule |"
    assert row in hooks.closed_forms("gather").splitlines()

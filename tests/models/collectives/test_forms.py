"""Closed forms: their formulas say what their counts are, and these are the counts of the schedules."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from hockney import _core
from hockney._core import Algorithm, Problem
from hockney.models.collectives._forms import Case, ClosedForm
from hockney.models.collectives.base import Collective, closed_form, collective_models

FORMS = [
    pytest.param(form, id=f"{operation}-{name}")
    for operation, collective in collective_models
    for name, form in collective.forms.items()
]
ELEMENT_B = 4
RANKS = range(2, 65)


def value(text: str, case: Case, segments: int) -> float:
    """A formula of `ClosedForm` as a number: `·` multiplies, ⌈ ⌉ rounds up."""
    python = text.replace("·", "*").replace("−", "-").replace("⌈", "ceil(").replace("⌉", ")")
    names = {
        "P": case.ranks,
        "n": case.m,
        "q": case.log,
        "d": case.floor,
        "r": case.rest,
        "N": 2**case.floor,
        "S": segments,
        "k": case.radix,
        # Rounded: log(64)/log(4) is 3 and a little more.
        "ceil": lambda number: math.ceil(round(number, 9)),
        "log": math.log,
    }
    return float(eval(python, {"__builtins__": {}}, names))


@pytest.mark.parametrize("form", FORMS)
def test_a_formula_says_what_is_counted(form: ClosedForm) -> None:
    for ranks in RANKS:
        # Radix 4, but no more chains than ranks that hang on them.
        case = Case(ranks, 960.0, radix=min(4, ranks - 1) if "⌈(P − 1)/k⌉" in form.alpha else 4)
        counted = form.counts(case)
        for text, number in zip((form.alpha, form.bytes, form.reduced or "0"), counted, strict=True):
            assert value(text, case, 1) == pytest.approx(number), (ranks, text)


def exactly_divisible(algorithm: Algorithm, ranks: int, segments: int) -> tuple[int, int]:
    """(bytes, bytes of a segment) where every block, half and segment is a whole number of elements."""
    if algorithm.collective == "barrier":
        return 0, 0
    # 2⁶: halvings of up to 64 ranks; segments cut blocks of allreduce and halves of split_binary.
    size = ELEMENT_B * math.lcm(64, ranks) * segments * 2
    cut = {"segmented_ring": ranks, "split_binary": 2}.get(algorithm.name, 1)
    return size, size // cut // segments if segments > 1 else 0


# A closed form is optional: a new algorithm needs none.
WITH_FORM = [one for one in _core.algorithms() if closed_form(one.collective, one.name) is not None]


@pytest.mark.parametrize("algorithm", WITH_FORM, ids=lambda one: f"{one.collective}-{one.name}")
def test_counts_are_those_of_the_schedule(algorithm: Algorithm) -> None:
    form = closed_form(algorithm.collective, algorithm.name)
    assert form is not None
    seen = False
    for ranks in RANKS:
        # Open MPI's linear_sync cuts only the first message.
        pieces = (1, 3) if algorithm.is_segmented and algorithm.name != "linear_sync" and ranks <= 17 else (1,)
        for segments in pieces:
            size_B, segment_B = exactly_divisible(algorithm, ranks, segments)
            problem = Problem(ranks=ranks, bytes=size_B, element_B=ELEMENT_B, segment_B=segment_B)
            if _core.refusal(algorithm.collective, algorithm.name, problem):
                continue
            counts = _core.count(_core.generate(algorithm.collective, algorithm.name, problem))
            mine = form.counts(Case(ranks, float(size_B), float(segment_B), algorithm.default_radix))
            theirs = counts.critical_messages, counts.critical_bytes
            if form.is_exact(ranks, algorithm.default_radix):
                seen = True
                assert mine[:2] == pytest.approx(theirs), (ranks, segments)
            elif form.bounds:
                assert mine[0] >= theirs[0], (ranks, segments)
                assert mine[1] >= theirs[1] * (1 - 1e-12), (ranks, segments)
    assert seen, "exact nowhere"


@pytest.mark.parametrize(("operation", "collective"), list(collective_models))
def test_no_schedule_beats_the_optimum(operation: str, collective: Collective) -> None:
    for algorithm in (one for one in _core.algorithms() if one.collective == operation):
        for ranks in (2, 3, 5, 8, 13, 16, 31, 32):
            size_B, _ = exactly_divisible(algorithm, ranks, 1)
            problem = Problem(ranks=ranks, bytes=size_B, element_B=ELEMENT_B)
            if _core.refusal(operation, algorithm.name, problem):
                continue
            counts = _core.count(_core.generate(operation, algorithm.name, problem))
            least = collective.optimum.counts(Case(ranks, float(size_B)))
            assert counts.critical_messages >= least.alpha
            assert counts.critical_bytes >= least.bytes * (1 - 1e-12), (algorithm.name, ranks)


@pytest.mark.parametrize(("operation", "collective"), list(collective_models))
def test_the_optimum_says_what_it_counts_and_no_form_beats_it(operation: str, collective: Collective) -> None:
    best = collective.optimum
    for ranks in RANKS:
        case = Case(ranks, 960.0, radix=4)
        least = best.counts(case)
        for text, number in zip((best.alpha, best.bytes, best.reduced or "0"), least, strict=True):
            assert value(text, case, 1) == pytest.approx(number)
        for name, form in collective.forms.items():
            if form.exact == "even P" and ranks % 2:
                continue
            made = form.counts(case)
            assert all(mine >= theirs * (1 - 1e-12) for mine, theirs in zip(made, least, strict=True)), (
                operation,
                name,
                ranks,
            )


@pytest.mark.parametrize("form", FORMS)
def test_orders_are_those_of_the_counts(form: ClosedForm) -> None:
    """Between 2²⁰ and 2⁴⁰ ranks a count grows as its order does, within what lower orders still change."""
    for order, part in zip(form.orders, ("alpha", "bytes"), strict=True):
        python = (
            order.replace("log P", "log(P)").replace("P²", "P**2").replace(" P", "*P").replace(" log", "*log")
        )
        python = python.replace("*+", "+").replace("+*", "+").replace("+ *", "+ ")
        few, many = (getattr(form.counts(Case(ranks, 960.0, radix=4)), part) for ranks in (2**20, 2**40))
        if not many:
            assert order == "1"
            continue
        names = {"n": 1.0, "S": 1.0, "log": math.log}
        first, last = (
            eval(python, {"__builtins__": {}}, {**names, "P": float(ranks)}) for ranks in (2**20, 2**40)
        )
        assert many / few == pytest.approx(last / first, rel=0.06), (order, part)


@pytest.mark.parametrize(
    ("operation", "algorithm", "ranks", "alpha", "blocks", "reduced"),
    [
        # By hand from the papers named in the forms, for n = 1 B.
        ("bcast", "binomial", 9, 4, 4, 0),
        ("scatter", "binomial", 8, 3, 7, 0),
        ("gather", "linear_sync", 5, 8, 4, 0),
        ("reduce", "linear", 6, 5, 5, 5),
        ("allreduce", "ring", 4, 6, 1.5, 0.75),
        ("allgather", "neighbor_exchange", 6, 3, 5, 0),
        ("reduce_scatter", "pairwise", 6, 5, 5, 5),
        ("alltoall", "bruck", 8, 3, 12, 0),
        ("barrier", "recursive_doubling", 6, 5, 0, 0),
    ],
)
def test_counts_by_hand(
    operation: str, algorithm: str, ranks: int, alpha: float, blocks: float, reduced: float
) -> None:
    form = closed_form(operation, algorithm)
    assert form is not None
    assert tuple(form.counts(Case(ranks, 1.0))) == pytest.approx((alpha, blocks, reduced))


def test_open_mpis_spellings_are_known_and_a_librarys_own_choice_is_not() -> None:
    assert closed_form("alltoall", "modified_bruck") is closed_form("alltoall", "bruck")
    assert closed_form("bcast", "default") is None
    assert closed_form("pingpong", "linear") is None


def test_the_page_has_the_formulas() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/collective-models.md").read_text(encoding="utf-8")
    for operation, collective in collective_models:
        section = page.partition(f"\n## {operation}\n")[2].partition("\n## ")[0]
        rows = {
            cells[1].strip(" `"): [cell.strip() for cell in cells[2:]]
            for line in section.splitlines()
            if len(cells := line.split("|")) > 3
        }
        for name, form in collective.forms.items():
            formulas = [one for one in (form.alpha, form.bytes, form.reduced) if one not in ("", "0")]
            told = [one.replace("log(P)/log(k)", "log P/log k") for one in formulas]
            assert rows[name][: len(told)] == told, (operation, name)

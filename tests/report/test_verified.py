"""What a page says of rules that were tried."""

from __future__ import annotations

from tests.factories import not_none

from hockney.records.verification import Proof, Verification, VerifiedCell
from hockney.report.verified import section


def cell(size_B: int, gain: float | None, *, is_kept: bool) -> VerifiedCell:
    low, high = (None, None) if gain is None else (gain - 0.25, gain + 0.25)
    return VerifiedCell(
        operation="bcast",
        ranks=8,
        bytes=size_B,
        algorithm="chain",
        verdict="faster",
        is_kept=is_kept,
        gain=gain,
        gain_low=low,
        gain_high=high,
    )


def said(*cells: VerifiedCell, proofs: tuple[Proof, ...] = ()) -> list[str]:
    """The answers of a page, in its order."""
    found = Verification(time="", target="", library="", launches=6, proofs=list(proofs), cells=list(cells))
    made = not_none(section(found))
    assert {one.anchor for one in made.findings} == {made.id}
    return [one.text for one in made.findings]


def test_the_gain_is_the_geometric_mean_of_what_keeps_a_rule() -> None:
    texts = said(cell(64, 2.0, is_kept=True), cell(1024, 8.0, is_kept=True), cell(8, 0.5, is_kept=False))
    assert texts == [
        "With the rules, 2 of 3 cells are 4.00 times as fast as by default (geometric mean), the most at bcast "
        "of 1 KiB on 8 ranks, 8.00 times as fast (7.75 to 8.25).",
        "A cell goes back to the default: bcast of 8 B on 8 ranks, 0.50 times as fast (0.25 to 0.75).",
    ]


def test_what_was_not_timed_gains_nothing() -> None:
    first, second = said(cell(64, None, is_kept=False), cell(8, 0.5, is_kept=False))
    assert first.startswith("No cell keeps a rule")
    assert second == (
        "2 cells go back to the default (1 not timed): bcast of 8 B on 8 ranks, 0.50 times as fast "
        "(0.25 to 0.75)."
    )
    slow = said(cell(64, 0.75, is_kept=False), cell(8, 0.5, is_kept=False))[1]
    assert slow.startswith("2 cells go back to the default, the slowest bcast of 8 B on 8 ranks, 0.50 times")
    assert said(cell(64, None, is_kept=False))[1] == "A cell goes back to the default (1 not timed)."


def test_rules_whose_effect_was_not_shown_are_named() -> None:
    proofs = (
        Proof(operation="bcast", effect="proven", why="the time changes"),
        Proof(operation="reduce", effect="none", why="nothing changes"),
        Proof(operation="gather", effect="not proven", why="no probe"),
        Proof(operation="scatter", effect="none", why="no rule for it is left"),
    )
    others = [cell(64, 2.0, is_kept=True).model_copy(update={"operation": name}) for name in ("reduce", "gather")]
    texts = said(cell(64, 2.0, is_kept=True), *others, proofs=proofs)
    assert texts[1:] == [
        "Rules for reduce take no effect: nothing changes.",
        "Rules for gather are not proven to take effect: no probe.",
    ]

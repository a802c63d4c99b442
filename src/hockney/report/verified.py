"""The section on a verification of rules: default, tuned, best measured, gain and regret of each cell."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.records.verification import Effect, Proof, Verification, VerifiedCell
from hockney.report.findings import Finding
from hockney.report.marks import percent
from hockney.report.page import Section
from hockney.report.tables import NONE, Column, Table, if_known, table
from hockney.units import counted, format_bytes, format_time

ID = "verification"
MEANING = (
    "Launches by default and with the rules took turns. The gain is the time by default over that with the "
    "rules, launch by launch, with its 95 % interval. The regret is how much longer the rule takes than the best "
    "measured algorithm."
)
EFFECT = {"proven": "in effect", "none": "not in effect", "not proven": "not proven"}


def section(verification: Verification) -> Section:
    """The section."""
    result = Section(ID, f"Verified: {verification.target}", MEANING, findings=_findings(verification))
    result.tables = [
        cells(verification.cells),
        table("Do the rules take effect?", verification.proofs, _PROOFS),
    ]
    mean = verification.mean_gain
    ruled = sum(cell.is_kept for cell in verification.cells)
    result.note = f"{verification.library}, {verification.launches} launches each, {verification.time}. " + (
        "No cell keeps a rule."
        if mean is None
        else f"The geometric mean of the gains of the {counted(ruled, 'cell')} with a rule is {mean:.2f}."
    )
    return result


def cells(verified: Sequence[VerifiedCell]) -> Table:
    """A row for each: times by default, with the rules and of the best measured, and what becomes of its rule."""
    return table("Cells, with and without the rules", verified, _CELLS)


def _findings(verification: Verification) -> list[Finding]:
    """What the rules gain, what goes back to the default, and whose effect is not shown."""
    kept = [cell for cell in verification.cells if cell.is_kept and cell.gain is not None]
    if mean := verification.mean_gain:
        said = (
            f"With the rules, {len(kept)} of {counted(len(verification.cells), 'cell')} are {mean:.2f} times as "
            "fast as by default (geometric mean), the most at "
            f"{_in_words(max(kept, key=lambda cell: cell.gain or 0))}."
        )
    else:
        said = "No cell keeps a rule: beside the default none was shown to be faster in launches that took turns."
    found = [Finding(said, ID, 0.98, verdict="good" if mean else "fact")]
    if back := verification.gone_back:
        many = f"{len(back)} cells go" if len(back) > 1 else "A cell goes"
        timed = [cell for cell in back if cell.gain is not None]
        untimed = f" ({len(back) - len(timed)} not timed)" if len(timed) < len(back) else ""
        joint = ", the slowest " if len(timed) > 1 else ": "
        slowest = joint + _in_words(min(timed, key=lambda cell: cell.gain or 0)) if timed else ""
        found.append(Finding(f"{many} back to the default{untimed}{slowest}.", ID, 0.96, verdict="look"))
    effects: dict[Effect, str] = {"none": "take no effect", "not proven": "are not proven to take effect"}
    for effect, words in effects.items():
        left = verification.ruled(effect)
        of_it = [each for each in verification.proofs if each.operation in left]
        found += [
            Finding(f"Rules for {each.operation} {words}: {each.why}.", ID, 0.97, effect, "bad") for each in of_it
        ]
    return found


def _in_words(cell: VerifiedCell) -> str:
    where = f"{cell.operation} of {format_bytes(cell.bytes)} on {counted(cell.ranks, 'rank')}"
    return f"{where}, {cell.gain:.2f} times as fast ({_between(cell.gain_low, cell.gain_high)})"


def _between(low: float | None, high: float | None) -> str:
    return NONE if low is None or high is None else f"{low:.2f} to {high:.2f}"


def _tried(proof: Proof) -> str:
    return "" if proof.bytes is None else f"{proof.algorithm}, {proof.ranks} ranks, {format_bytes(proof.bytes)}"


def _result(cell: VerifiedCell) -> str:
    return cell.fate or {"not told": "no difference", "no rule": ""}.get(cell.verdict, cell.verdict)


_CELLS: list[Column[VerifiedCell]] = [
    Column("operation", lambda cell: cell.operation, is_text=True),
    Column("ranks", lambda cell: str(cell.ranks)),
    Column("size", lambda cell: format_bytes(cell.bytes)),
    Column("rule", lambda cell: cell.algorithm or "(default)", is_text=True),
    Column("default", lambda cell: if_known(cell.default_s, format_time)),
    Column("tuned", lambda cell: if_known(cell.tuned_s, format_time)),
    Column("best measured", lambda cell: cell.best or "", is_text=True),
    Column("its time", lambda cell: if_known(cell.best_s, format_time)),
    Column("gain", lambda cell: if_known(cell.gain, "{:.2f}".format)),
    Column("95 % interval", lambda cell: _between(cell.gain_low, cell.gain_high)),
    Column("regret", lambda cell: if_known(cell.regret, percent)),
    Column("result", _result, is_text=True),
]
_PROOFS: list[Column[Proof]] = [
    Column("operation", lambda proof: proof.operation, is_text=True),
    Column("effect", lambda proof: EFFECT[proof.effect], is_text=True),
    Column("why", lambda proof: proof.why, is_text=True),
    Column("tried with", _tried, is_text=True),
    Column("expected", lambda proof: if_known(proof.expected, "{:.2f}".format)),
    Column("seen", lambda proof: if_known(proof.seen, "{:.2f}".format)),
    Column("95 % interval", lambda proof: _between(proof.seen_low, proof.seen_high)),
]

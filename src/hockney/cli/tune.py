"""`hockney tune`: write rules that make a library choose faster algorithms."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from hockney import api
from hockney.options.tune import TuneOptions
from hockney.terminal import JsonOption, answer_no, say, verb
from hockney.terminal.say import Column
from hockney.terminal.signals import interruptible
from hockney.units import counted, format_bytes, in_range

MOST_ROWS = 40
"""Rules or calls that are listed; `--json` has all."""


@verb(
    "tune",
    examples="""hockney tune campaign --for openmpi-classic -o rules.conf
hockney tune campaign --for mpich-json -o selection.json --operation bcast,allreduce
hockney tune campaign --for openmpi-v2 -o rules.conf --verify --launches 8
hockney tune campaign --for openmpi-v2 -o rules.conf --ranks 5,7
hockney tune table.csv.gz --for hockney -o table.json --where mapping=core
hockney tune machine.json --for openmpi-classic -o rules.conf --ranks 4,8""",
)
@interruptible()
def tune(options: TuneOptions, json: JsonOption = False) -> None:
    """Write rules that make the library use faster algorithms than its defaults.

    A rule is written only where an algorithm is faster than the default by more than chance. Elsewhere, and for
    ranks and sizes that were not measured, the default stays. The variables of --for mpich-cvars hold for all
    ranks and sizes: an algorithm that is slower anywhere is not used.

    Open MPI's rules hold for every operator. Most algorithms change the order of operands, which matters where an
    operator is not commutative.

    With --verify, fresh launches try the rules first. Exit code 1: the library rejects or ignores rules.
    """
    tell = (lambda _: None) if json else say.line
    with say.at_end(json) as warn:
        done = api.tune_file(options, partial(say.PointsBar, quiet=json), tell, warn)
        answer = done.answer(options.output)
        if json:
            say.json(answer)
        else:
            _show(answer, warn)
    if done.is_ignored:
        answer_no()


RULES = (
    Column("rule for", "operation"),
    Column("ranks", lambda rule: in_range(rule.least_ranks, rule.most_ranks)),
    Column("sizes", lambda rule: in_range(rule.least_bytes, rule.most_bytes, format_bytes)),
    Column("algorithm", "method"),
    Column("gain", "gain", "× {:.2f}".format, is_number=True),
    Column("interval", lambda rule: rule.gain and f"{rule.gain_low:.2f} to {rule.gain_high:.2f}"),
    Column("interval by", "interval_by"),
)
EFFECTS = {"proven": "in effect", "none": "not in effect", "not proven": "not proven to be in effect"}


def _show(answer: api.TuneAnswer, warn: Callable[[str], None]) -> None:
    say.line((_verdict(answer), "bold"))
    if answer.verification is not None:
        _show_verified(answer.verification, warn)
    elif answer.rules:
        say.rows("", answer.rules[:MOST_ROWS], RULES)
        if (left := len(answer.rules) - MOST_ROWS) > 0:
            say.line(f"and {left} more (--json has all)")
        say.line(answer.intervals)
    for text in answer.refused:
        warn(f"{answer.target} cannot say: {text}")
    if answer.points_of_another_level:
        say.line(
            f"{counted(answer.points_of_another_level, 'point')} left out: no launch met "
            "them at the level that is compared"
        )
    say.line(f"{answer.file}: {answer.state}")
    if answer.rules:
        for name, value in answer.settings.items():
            say.line(f"  {name}={value}")
        if answer.caution:
            say.line(f"note: {answer.caution}")


def _verdict(answer: api.TuneAnswer) -> str:
    """What the rules gain, or why there is none and what the best candidate would have gained."""
    if (tried := answer.verification) is not None:
        ruled = sum(bool(cell.algorithm) for cell in tried.cells)
        kept = sum(cell.is_kept for cell in tried.cells)
        mean = "" if tried.mean_gain is None else f": × {tried.mean_gain:.2f} in the geometric mean"
        return f"{kept} of {counted(ruled, 'call')} with a rule gain in {tried.launches} launches{mean}."
    calls = counted(len(answer.cells), "call")
    if answer.rules:
        ruled = sum(cell.algorithm is not None for cell in answer.cells)
        best = max(answer.cells, key=lambda cell: cell.gain)
        return (
            f"{counted(len(answer.rules), 'rule')} for {ruled} of {calls}. "
            f"The largest gain: {_of(best)}, {best.algorithm}, × {best.gain:.2f}."
        )
    if answer.refused:
        return f"No rule: {answer.target} cannot say what is faster than the default."
    best = max(answer.cells, key=lambda cell: cell.candidate_gain)
    if best.candidate_gain <= 1:
        return f"No rule: of what a rule can set, the default has the shortest time in all of {calls}."
    return (
        "No rule: no algorithm that a rule can set is faster than the default by more than chance in any of "
        f"{calls}. "
        f"Nearest: {best.candidate} for {_of(best)}, × {best.candidate_gain:.2f} "
        f"({best.candidate_low:.2f} to {best.candidate_high:.2f})."
    )


def _of(cell: api.TunedCell) -> str:
    return f"{cell.operation} of {format_bytes(cell.bytes)} on {counted(cell.ranks, 'rank')}"


def _show_verified(verification: api.Verification, warn: Callable[[str], None]) -> None:
    shown = [cell for cell in verification.cells if cell.algorithm]
    table = api.verified_cells(shown[:MOST_ROWS])
    say.texts("", table.columns, table.rows, table.text)
    for proof in verification.proofs:
        ratio = ""
        if proof.seen is not None:
            ratio = f" ({proof.algorithm}: {proof.seen:.2f} times as long, "
            ratio += f"{proof.seen_low:.2f} to {proof.seen_high:.2f})"
        text = f"rules for {proof.operation}: {EFFECTS[proof.effect]}: {proof.why}{ratio}"
        say.line(text) if proof.effect == "proven" else warn(text)
    for cell in verification.of("slower", "not timed"):
        if not cell.algorithm:
            what = "slower" if cell.verdict == "slower" else "not comparable"
            warn(f"{what} though no rule is for it: {cell}")

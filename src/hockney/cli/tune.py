"""`hockney tune`: rules by which a library takes faster algorithms, in the library's own form."""

from __future__ import annotations

from functools import partial

from hockney import api
from hockney.options.tune import TuneOptions
from hockney.terminal import JsonOption, answer_no, say, verb
from hockney.terminal.say import Column
from hockney.terminal.signals import interruptible
from hockney.units import counted, format_bytes, format_time

MOST_ROWS = 40
"""Cells that are listed; `--json` has all."""


@verb(
    "tune",
    examples="""hockney tune campaign --for openmpi-classic -o rules.conf --explain
hockney tune campaign --for mpich-json -o selection.json --operation bcast,allreduce
hockney tune campaign --for openmpi-v2 -o rules.conf --verify --launches 8
hockney tune campaign --for openmpi-v2 -o rules.conf --ranks 5,7
hockney tune table.csv.gz --for hockney -o table.json --where mapping=core
hockney tune machine.json --for openmpi-classic -o rules.conf --ranks 4,8""",
)
@interruptible()
def tune(options: TuneOptions, json: JsonOption = False) -> None:
    """Write rules by which the library takes faster algorithms than by default.

    A rule is written only where an algorithm is faster than the default beyond both intervals; elsewhere, and for
    ranks and sizes that were not measured, the default stays. But the variables of --for mpich-cvars hold for all
    ranks and sizes: only an algorithm that is slower nowhere is taken. Neighbouring sizes share a rule where that
    costs next to nothing, and what it costs is printed. Each cell says whether its times were measured or are by
    the model.

    Open MPI's rules hold for every operator: most algorithms change the order of operands, which counts where an
    operator is not commutative.

    With --verify, fresh launches try the rules first. Exit code 1: the library rejects or ignores rules.
    """
    tell = (lambda _: None) if json else say.line
    done = api.tune_file(options, partial(say.PointsBar, quiet=json), tell, say.warn)
    answer = done.answer(options.output)
    if json:
        say.json(answer)
    else:
        _show(done, answer)
        if options.verify and answer.verification is None:
            say.line("there is no rule to verify")
        if options.explain:
            lines = done.explained
            say.line("\n", ("What gains most" if lines else "Nothing gains beyond its interval", "bold"))
            for number, line in enumerate(lines, 1):
                say.line(f"  {number}. {line}")
    if done.is_ignored:
        answer_no()


CELL = (
    Column("operation", "operation"),
    Column("ranks", "ranks"),
    Column("size", "bytes", format_bytes),
)
CELLS = (
    *CELL,
    Column("rule", lambda cell: cell.algorithm or "(default)"),
    Column("default", "default_s", format_time),
    Column("with it", "time_s", format_time),
    Column("gain", lambda cell: f"{cell.gain:.2f}" if cell.algorithm else ""),
    Column("interval", lambda cell: f"{cell.gain_low:.2f} to {cell.gain_high:.2f}" if cell.algorithm else ""),
    Column("from", "origin"),
)
VERIFIED = (
    *CELL,
    Column("rule", lambda cell: cell.algorithm or "(default)"),
    Column("default", "default_s", format_time),
    Column("tuned", "tuned_s", format_time),
    Column("best", "best_s", format_time),
    Column("gain", "gain", "{:.2f}".format),
    Column(
        "95 %", lambda cell: None if cell.gain_low is None else f"{cell.gain_low:.2f} to {cell.gain_high:.2f}"
    ),
    Column("regret", "regret", "{:.1%}".format),
    Column("", lambda cell: "goes back" if cell.algorithm and not cell.is_kept else ""),
)
EFFECTS = {"proven": "in effect", "none": "not in effect", "not proven": "not proven to be in effect"}


def _show(done: api.Tuning, answer: api.TuneAnswer) -> None:
    if answer.verification is None:
        say.rows("", answer.cells[:MOST_ROWS], CELLS)
        if (left := len(answer.cells) - MOST_ROWS) > 0:
            say.line(f"and {left} more (--json has all)")
        if answer.intervals:
            say.line(answer.intervals)
    else:
        _show_verified(answer.verification)
    for text in answer.refused:
        say.warn(f"{answer.target} cannot say: {text}")
    if answer.points_of_another_level:
        say.line(
            f"{answer.points_of_another_level} points left out: no launch met them at the level that is compared"
        )
    costs = answer.merging_costs
    merging = f"merging costs {costs.mean:.1%} in the mean and {costs.most:.1%} at most; " if answer.rules else ""
    say.line(
        f"{counted(len(answer.rules), 'rule')} for {done.ruled_cells} of {len(answer.cells)} cells in "
        f"{answer.file}; {merging}{done.tuned.tried}"
    )
    if answer.rules:
        for name, value in answer.settings.items():
            say.line(f"  {name}={value}")
        if answer.caution:
            say.line(f"note: {answer.caution}")


def _show_verified(verification: api.Verification) -> None:
    say.rows("", verification.cells[:MOST_ROWS], VERIFIED)
    for proof in verification.proofs:
        ratio = ""
        if proof.seen is not None:
            ratio = f" ({proof.algorithm}: {proof.seen:.2f} times as long, "
            ratio += f"{proof.seen_low:.2f} to {proof.seen_high:.2f})"
        text = f"rules for {proof.operation}: {EFFECTS[proof.effect]}: {proof.why}{ratio}"
        say.line(text) if proof.effect == "proven" else say.warn(text)
    for cell in verification.gone_back:
        say.line(f"goes back to the default: {cell}")
    for cell in verification.of("slower", "not timed"):
        if not cell.algorithm:
            what = "slower" if cell.verdict == "slower" else "not comparable"
            say.warn(f"{what} though no rule is for it: {cell}")
    if (mean := verification.mean_gain) is not None:
        count = sum(cell.is_kept for cell in verification.cells)
        say.line(f"geometric mean of the gains of {count} cells with a rule: {mean:.2f}")

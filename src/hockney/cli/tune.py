"""`hockney tune`: rules by which a library takes faster algorithms, in the library's own form."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field
from rich.table import Table

from hockney import writing
from hockney.cli._verify import Verifying, show, verify
from hockney.errors import RequestError
from hockney.fields import Argument, Option, flags_written
from hockney.records.keys import COLLECTIVES
from hockney.registry import did_you_mean, unit_files
from hockney.terminal import JsonOption, answer_no, say, verb
from hockney.terminal.loading import later
from hockney.terminal.signals import interruptible
from hockney.tune.rules import SIZES_B
from hockney.units import counted, format_bytes, format_time, parse_bytes
from hockney.words import listed, whole, words, written

with later():
    from hockney.api.tuning import Tuning, of_machine, of_measurements
    from hockney.machine.file import is_machine_file, load
    from hockney.tune.rules import find
    from hockney.tune.tuned import Tuned

TARGETS = [name.replace("_", "-") for name in unit_files("hockney.tune.targets")]
VERIFY = "Verification"
"""Heading of options."""
OF_VERIFY = ("verify_in", "launches", "trust")
MOST_ROWS = 40
"""Cells that are listed; `--json` has all."""


def _target(word: str) -> str:
    name = word.replace("_", "-")
    if name not in TARGETS:
        near = did_you_mean(name, TARGETS)
        raise RequestError(f"unknown tuning target {word!r}", f"{near}known: {', '.join(TARGETS)}")
    return name.replace("-", "_")


def _ranks(text: str) -> list[int]:
    found = sorted({whole(word) for word in words(text)})
    if found and found[0] < 2:
        raise RequestError(f"{found[0]} is no number of ranks to tune for", "name 2 or more, for example 4,8")
    return found


class TuneOptions(BaseModel):
    """From what rules are made, for which library, and where they go."""

    empty_means_default: ClassVar[bool] = True

    source: Annotated[
        Path,
        Argument("Campaign folder, tidy table (.csv, .csv.gz, .parquet), or machine file.", metavar="CAMPAIGN"),
    ]
    target: Annotated[
        str,
        Option(
            f"Form of the rules: {listed(TARGETS)}.",
            flags=("--for",),
            read=_target,
            known=lambda: TARGETS,
        ),
    ]
    output: Annotated[Path, Option("File to write.", flags=("--output", "-o"))]
    operations: Annotated[
        list[str],
        Option(
            "Collectives, with commas between. [default: all that were measured]",
            flags=("--operation",),
            read=words,
            known=lambda: COLLECTIVES,
        ),
    ] = Field(default_factory=list)
    ranks: Annotated[
        list[int],
        Option(
            "Several: with commas. On others than were measured the model chooses. [default: all that "
            "were measured]",
            read=_ranks,
        ),
    ] = Field(default_factory=list)
    sizes_B: Annotated[
        list[int],
        Option(
            "At these the model chooses from a machine file, with commas between.",
            flags=("--bytes",),
            read=lambda text: sorted({parse_bytes(word) for word in words(text)}),
            show=lambda sizes: ",".join(map(written, sizes)),
        ),
    ] = Field(default_factory=lambda: [*SIZES_B])
    where: Annotated[
        list[str],
        Option(metavar="NAME=VALUE"),
    ] = Field(default_factory=list)
    mpi: Annotated[
        str, Option("The one that will read the file, where the table's launches do not lead to it.")
    ] = ""
    explain: Annotated[bool, Option("Say in words which rules gain most.", flags=("--explain",))] = False
    verify: Annotated[
        bool,
        Option(
            "Before the file is written, launch with the rules and without them in turn: do they take effect, do "
            "they help? What is slower goes back to the default.",
            flags=("--verify",),
            panel=VERIFY,
        ),
    ] = False
    verify_in: Annotated[
        Path | None,
        Option(
            "Folder that keeps the launches; the same command goes on with it. [default: FILE.verified]",
            panel=VERIFY,
        ),
    ] = None
    launches: Annotated[int, Option("Of each variant.", panel=VERIFY), Field(ge=4, le=1000)] = 5
    trust: Annotated[bool, Option(flags=("--trust",), panel=VERIFY)] = False


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
    if not options.verify and (
        unfit := [flag for name, flag in flags_written(options).items() if name in OF_VERIFY]
    ):
        raise RequestError(f"{', '.join(unfit)} means nothing without --verify", "add it, or leave them out")
    writing.expect_writable(options.output)
    asked = options.target, options.source, options.operations, options.ranks, options.where, options.mpi
    if is_machine_file(options.source):
        if options.verify:
            raise RequestError(
                f"{options.source} is a machine file, and --verify launches what a campaign launched",
                "give a campaign, or leave --verify out",
            )
        done = of_machine(load(options.source), *asked, sizes_B=options.sizes_B)
    else:
        done = of_measurements(*asked, to_be_verified=options.verify)
        if done.source is not None and options.verify and done.tuned.rules:
            folder = options.verify_in or options.output.with_name(f"{options.output.name}.verified")
            trying = Verifying(folder, options.launches, trust=options.trust, quiet=json)
            done = Tuning(*verify(done.tuned, done.source, trying))
    # Last, so that the file is there only once all is known that it says.
    done.write(options.output)
    if json:
        say.json(done.data(options.output))
    else:
        _show(done, options)
    if done.verification is not None and any(proof.effect == "none" for proof in done.verification.proofs):
        answer_no()


def _show(tuning: Tuning, options: TuneOptions) -> None:
    done, verification = tuning.tuned, tuning.verification
    if verification is None:
        _table(done)
    else:
        show(verification, MOST_ROWS)
    _print(done, options.output)
    if options.verify and verification is None:
        say.line("there is no rule to verify")
    if options.explain:
        lines = tuning.explained
        say.line("\n", ("What gains most" if lines else "Nothing gains beyond its interval", "bold"))
        for number, line in enumerate(lines, 1):
            say.line(f"  {number}. {line}")


def _table(done: Tuned) -> None:
    shown = Table("operation", "ranks", "size", "rule", "default", "with it", "gain", "interval", "from")
    for decision in done.choice.decisions[:MOST_ROWS]:
        cell, (gain, low, high) = decision.cell, decision.gain
        is_ruled = decision.algorithm is not None
        shown.add_row(
            cell.operation,
            str(cell.ranks),
            format_bytes(cell.bytes),
            str(decision.algorithm) if is_ruled else "(default)",
            format_time(cell.default.time_s),
            format_time(decision.time.time_s),
            f"{gain:.2f}" if is_ruled else "",
            f"{low:.2f} to {high:.2f}" if is_ruled else "",
            cell.origin,
        )
    say.table(shown)
    if (left := len(done.choice.decisions) - MOST_ROWS) > 0:
        say.line(f"and {left} more (--json has all)")
    if done.intervals:
        say.line(done.intervals)


def _print(done: Tuned, output: Path) -> None:
    for text in done.refused:
        say.warn(f"{done.target.title} cannot say: {text}")
    if done.left_out:
        say.line(f"{done.left_out} points left out: no launch met them at the level that is compared")
    mean, most = done.choice.regrets
    cells = [decision.cell for decision in done.choice.decisions]
    ruled = sum(find(done.rules, cell.operation, cell.ranks, cell.bytes) is not None for cell in cells)
    merging = f"merging costs {mean:.1%} in the mean and {most:.1%} at most; " if done.rules else ""
    say.line(
        f"{counted(len(done.rules), 'rule')} for {ruled} of {len(done.choice.decisions)} cells in {output}; "
        f"{merging}{done.tried}"
    )
    settings = done.target.settings(output, done.rules) if done.rules else {}
    for name, value in settings.items():
        say.line(f"  {name}={value}")
    if done.target.caution and done.rules:
        say.line(f"note: {done.target.caution}")

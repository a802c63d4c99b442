"""`hockney doctor`: which MPIs and compilers are here, what works, and what to do about what does not."""

from __future__ import annotations

from typing import Annotated

import typer

from hockney.errors import EnvironmentLack
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import format_bytes

with later():
    from hockney.runner.doctor import Diagnosis, MpiFinding, diagnose


@verb(
    "doctor",
    examples="""hockney doctor
hockney doctor --run
hockney doctor --mpi mpicc.mpich --run
hockney doctor --json""",
)
def doctor(
    mpi: Annotated[
        str | None,
        typer.Option(help="Look at this one only: auto, openmpi, mpich, intel, a prefix or a compiler wrapper."),
    ] = None,
    run: Annotated[
        bool, typer.Option("--run", help="Also build the runner and start two ranks with each MPI.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Show the MPIs found, the compiler and this machine; say what is missing and what to do about it.

    Ends with 0 when at least one MPI and a compiler work, else with 3.
    """
    diagnosis = diagnose(mpi, run=run)
    if json:
        say.json(diagnosis.as_dict())
    else:
        _print(diagnosis)
    if not diagnosis.ok:
        raise typer.Exit(EnvironmentLack.exit_code)


def _print(diagnosis: Diagnosis) -> None:
    say.line(("MPI libraries", "bold"), ", in the order of the search")
    for finding in diagnosis.mpis:
        _print_finding(finding)
    if not diagnosis.mpis:
        say.line("  none")
    say.line("\n", ("Search order", "bold"), " (--mpi auto takes the first that works)")
    for number, step in enumerate(diagnosis.search, 1):
        say.line(f"  {number}. {step.where}: {', '.join(map(str, step.wrappers)) or 'nothing'}")
    say.line("\n", ("This machine", "bold"))
    for text in _machine(diagnosis):
        say.line(f"  {text}")
    if diagnosis.advice:
        say.line("\n", ("To do", "bold"))
        for text in diagnosis.advice:
            say.line(f"  • {text}")
    say.line("\n", ("ready to measure", "green") if diagnosis.ok else ("nothing to measure with yet", "red"))


def _print_finding(finding: MpiFinding) -> None:
    mark = ("✓", "green") if finding.works else ("✗", "red")
    standard = f", MPI {finding.standard}" if finding.standard else ""
    say.line("  ", mark, f" {finding.name}{standard} ({finding.where})")
    launcher = f"{finding.launcher} ({finding.launcher_kind})" if finding.launcher else ""
    for label, value in (
        ("wrapper", finding.wrapper),
        ("launcher", launcher),
        ("compiler", finding.compiler),
        ("trial", finding.trial),
        ("fails", finding.message),
    ):
        if value:
            say.line(f"      {label:9}{value}")


def _machine(diagnosis: Diagnosis) -> list[str]:
    m = diagnosis.machine
    caches = ", ".join(
        f"{c.count} × L{c.level} {format_bytes(c.size_B)} for {c.cpus_per_cache} CPU(s)" for c in m.caches
    )
    memory = f"{m.memory_B / 2**30:.1f} GiB memory" if m.memory_B is not None else "memory unknown"
    return [
        f"{m.host}: {m.cpu_model}, Linux {m.kernel}, {memory}",
        f"{m.cores} core(s), {m.cpus} CPU(s), {m.packages} package(s), {m.numa_domains} NUMA domain(s), "
        f"{m.threads_per_core} thread(s) per core",
        f"caches: {caches or 'unknown'}",
        f"localities that can be measured here: {', '.join(m.localities) or 'none'} (network: give --hosts)",
        f"C++ compiler: {diagnosis.compiler or 'none on PATH'}",
        f"frequency governor: {m.governor or 'not shown by this kernel'}",
    ]

"""`hockney doctor`: which MPIs and compilers are here, what works, and what to do about what does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hockney.cli import JsonOption, emit_json, out, verb
from hockney.errors import EnvironmentLack

if TYPE_CHECKING:
    from hockney.runner.doctor import Diagnosis, Finding


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
    from hockney.runner.doctor import diagnose

    diagnosis = diagnose(mpi, run=run)
    if json:
        emit_json(diagnosis.as_dict())
    else:
        _print(diagnosis)
    if not diagnosis.ok:
        raise typer.Exit(EnvironmentLack.exit_code)


def _print(diagnosis: Diagnosis) -> None:
    from rich.markup import escape

    def line(text: str) -> None:
        out.print(text, soft_wrap=True)

    line("[bold]MPI libraries[/bold], in the order of the search")
    for finding in diagnosis.mpis:
        _print_finding(finding)
    if not diagnosis.mpis:
        line("  none")
    line("\n[bold]Search order[/bold] (--mpi auto takes the first that works)")
    for number, step in enumerate(diagnosis.search, 1):
        found = ", ".join(map(str, step.wrappers)) or "nothing"
        line(f"  {number}. {escape(step.where)}: {escape(found)}")
    line("\n[bold]This machine[/bold]")
    for text in _machine(diagnosis):
        line(f"  {escape(text)}")
    if diagnosis.advice:
        line("\n[bold]To do[/bold]")
        for text in diagnosis.advice:
            line(f"  • {escape(text)}")
    verdict = "[green]ready to measure[/green]" if diagnosis.ok else "[red]nothing to measure with yet[/red]"
    line(f"\n{verdict}")


def _print_finding(finding: Finding) -> None:
    from rich.markup import escape

    mark = "[green]✓[/green]" if finding.works else "[red]✗[/red]"
    standard = f", MPI {finding.standard}" if finding.standard else ""
    out.print(f"  {mark} {escape(finding.name)}{standard} ({escape(finding.where)})", soft_wrap=True)
    launcher = f"{finding.launcher} ({finding.launcher_kind})" if finding.launcher else ""
    for label, value in (
        ("wrapper", finding.wrapper),
        ("launcher", launcher),
        ("compiler", finding.compiler),
        ("trial", finding.trial),
        ("fails", finding.message),
    ):
        if value:
            out.print(f"      {label:9}{escape(value)}", soft_wrap=True)


def _machine(diagnosis: Diagnosis) -> list[str]:
    from hockney.units import format_bytes

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

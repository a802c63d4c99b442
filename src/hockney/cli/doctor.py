"""`hockney doctor`: show which MPIs and compilers work here, and how to mend the rest."""

from __future__ import annotations

import shlex

import typer

from hockney import api
from hockney.errors import EnvironmentLack
from hockney.options.runner import DoctorOptions
from hockney.terminal import JsonOption, say, verb
from hockney.units import counted


@verb(
    "doctor",
    examples="""hockney doctor
hockney doctor --run
hockney doctor --mpi mpicc.mpich --run
hockney doctor --transports
hockney doctor --transports --hosts n1:1,n2:1
hockney doctor --json""",
)
def doctor(options: DoctorOptions, json: JsonOption = False) -> None:
    """Show the MPIs found, the compiler and this machine; say what is missing and what to do about it.

    Ends with 0 when at least one MPI and a compiler work, else with 3.
    """
    with say.status("looking …") as status:
        answer = api.doctor(options, status)
    if json:
        say.json(answer)
    else:
        _print(answer)
    if not answer.ok:
        raise typer.Exit(EnvironmentLack.exit_code)


def _print(diagnosis: api.DoctorAnswer) -> None:
    say.line(("MPI libraries", "bold"), ", in the order of the search")
    for finding in diagnosis.mpis:
        _print_finding(finding)
    if not diagnosis.mpis:
        say.line("  none")
    steps = [f"{step.where}: {', '.join(map(str, step.wrappers)) or 'nothing'}" for step in diagnosis.search]
    partitions = [f"{partition.system}: {partition.described()}" for partition in diagnosis.partitions]
    for title, rest, lines in (
        ("Search order", " (--mpi auto takes the first that works)", steps),
        ("This machine", "", _machine(diagnosis)),
        ("The node", ", all of it", [f"{part}: {text}" for part, text in diagnosis.node_facts]),
        ("Partitions", ", for --site partition=NAME", partitions),
        ("To do", "", diagnosis.advice),
    ):
        if lines:
            say.line("\n", (title, "bold"), rest)
        for text in lines:
            say.line(f"  {text}")
    say.line("\n", ("ready to measure", "green") if diagnosis.ok else ("nothing to measure with yet", "red"))


def _print_finding(finding: api.MpiFinding) -> None:
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
    for line in finding.transports.lines:
        say.line(f"      {line}")
    for variant in finding.variants:
        if variant.why_not:
            say.line("      ", ("✗", "red"), f" {variant.name}: {variant.why_not}")
        else:
            say.line("      ", ("✓", "green"), f" --variant {shlex.quote(variant.variant)}")


def _machine(diagnosis: api.DoctorAnswer) -> list[str]:
    machine = diagnosis.machine
    localities = ", ".join(machine.localities) or "none"
    memory = f"{machine.memory_B / 2**30:.1f} GiB memory" if machine.memory_B is not None else "memory unknown"
    return [
        f"{machine.host}: {machine.cpu_model}, Linux {machine.kernel}, {memory}",
        f"{counted(machine.cores, 'core')}, {counted(machine.cpus, 'CPU')}, "
        f"{counted(machine.packages, 'package')}, {counted(machine.numa_domains, 'NUMA domain')}, "
        f"{counted(machine.threads_per_core, 'thread')} per core",
        f"localities that can be measured here: {localities} (network: give --hosts)",
        f"C++ compiler: {diagnosis.compiler or 'none on PATH'}",
        f"frequency governor: {machine.governor or 'not shown by this kernel'}",
    ]

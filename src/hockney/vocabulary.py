"""What an option means that several verbs have: one name, one meaning, said once.

An option is called like the column of a table that it chooses from (`--operation`, `--algorithm`, `--ranks`,
`--bytes`), in the singular, however many it takes: several are written with commas, or one after the other. Where
a verb says more of it, that sentence (`Option.help`) stands in place of this.
"""

from __future__ import annotations

from dataclasses import dataclass

LAUNCH = "Launch"
MACHINE = "Machine, network and placement"
RESULT = "What is printed and written"
BATCH = "Batch systems"
"""Headings of options. A verb of few options has none of these."""


@dataclass(frozen=True)
class Meaning:
    """What an option means in each verb that has it, and the heading of the help that it usually stands under."""

    help: str
    panel: str = ""


MEANINGS = {
    "--algorithm": Meaning("Algorithm of the collective."),
    "--allocation": Meaning("Nodes that take part, such as 0-15,32. [default: all]", MACHINE),
    "--bytes": Meaning("Sizes of messages, such as 64KiB or 8,1MiB."),
    "--cell-time": Meaning("Time of a rank for a cell in an iteration, such as 0.9ns."),
    "--csv": Meaning("Write it as CSV, too.", RESULT),
    "--dry-run": Meaning("Print the plan, and launch nothing."),
    "--exchange": Meaning("How neighbours exchange messages."),
    "--figure": Meaning("Draw it: .svg, .png or .html.", RESULT),
    "--format": Meaning("Form of what is printed.", RESULT),
    "--formulation": Meaning("Formulation of the solver."),
    "--grid": Meaning("Processes along x, y and z, such as 4x3x2."),
    "--hosts": Meaning("Hosts, as NAME or NAME:SLOTS, with commas between.", LAUNCH),
    "--iterations": Meaning("Consecutive iterations."),
    "--json": Meaning("Print one JSON object instead of text.", RESULT),
    "--launches": Meaning("Launches over which each time is spread."),
    "--link": Meaning("Rate of a link in one direction, such as 100Gbit/s.", MACHINE),
    "--locality": Meaning("How far ranks are apart: core, cache, numa, package, node or network.", MACHINE),
    "--machine": Meaning("Machine file, campaign with one, or published machine.", MACHINE),
    "--map-by": Meaning("Where the launcher puts consecutive ranks.", LAUNCH),
    "--mapping": Meaning("How ranks are mapped to cores, such as core, socket or node.", MACHINE),
    "--memory-bandwidth": Meaning("Memory bandwidth, such as 10GB/s."),
    "--model": Meaning("Model of a time."),
    "--mpi": Meaning("MPI library.", LAUNCH),
    "--nodes": Meaning("Number of nodes.", MACHINE),
    "--now": Meaning("Submit the job script, too.", BATCH),
    "--operation": Meaning("Operation, such as pingpong or bcast."),
    "--output": Meaning("Where the result goes.", RESULT),
    "--ppn": Meaning("Ranks on a node.", MACHINE),
    "--quick": Meaning("A first answer soon, with wider intervals."),
    "--ranks": Meaning("Number of ranks."),
    "--resume": Meaning("Continue what was interrupted, with the same plan."),
    "--rules": Meaning("Rules that say which algorithm a library takes."),
    "--root": Meaning("Root of the collective."),
    "--seed": Meaning("Seed of what is drawn at random."),
    "--segment": Meaning("Size of a segment, such as 4KiB, or none."),
    "--site": Meaning("Site by name or file, then partition, account or walltime: here,walltime=2h.", BATCH),
    "--size": Meaning("Extents of the whole problem, such as 200x200x100."),
    "--split": Meaning("How the elements are split over the ranks."),
    "--statistic": Meaning("Which time, such as one_way, completion or mean_over_ranks."),
    "--subdomain": Meaning("Cells that each rank has."),
    "--submit": Meaning("Write a job script, and measure nothing here.", BATCH),
    "--system": Meaning("System that the ranks are on, by its name.", MACHINE),
    "--table": Meaning("Campaign or tidy table with times of collectives.", MACHINE),
    "--threads": Meaning("OpenMP threads of each rank."),
    "--topology": Meaning("Network between the nodes, such as torus:8x8x8 or fat-tree:nodes=148,….", MACHINE),
    "--trust": Meaning("Allow commands stored in a campaign made by someone else."),
    "--variant": Meaning("Variant of a launch, such as one of its transports."),
    "--where": Meaning("Only what has NAME=VALUE, such as mapping=core (repeatable).", MACHINE),
}
"""By the options' names. `tests/terminal/test_vocabulary.py` refuses a name of several verbs that is not here."""

WHERE_RANKS_WERE = (
    "say where its ranks were: `hockney import --nodes 2` for one on each node, --locality, or --mapping of a "
    "known --system"
)
"""What to do where nobody knows how far apart the ranks of a ping-pong were."""
HOW_RANKS_WERE_MAPPED = "say how ranks were mapped: `hockney import --mapping core --ppn 32`, for example"
"""What to do where their nodes are known."""

_OPERATIONS = {
    "latency": "pingpong",
    "lat": "pingpong",
    "bw": "bandwidth",
    "bibw": "bidirectional",
    "biband": "bidirectional",
    "uniband": "bandwidth",
    "broadcast": "bcast",
}
"""What other benchmarks call operations."""


def operation(word: str) -> str:
    """`osu_latency` or `PingPong` → `pingpong`; a word of ours stays."""
    name = word.lower().removeprefix("osu_")
    return _OPERATIONS.get(name, name if name != word and name.isidentifier() else word)

"""What an option means that several verbs have: one name, one meaning, said once.

An option is called like the column of a table that it chooses from (`--operation`, `--algorithm`, `--ranks`,
`--bytes`), in the singular, however many it takes: several are written with commas, or one after the other. What
is special in one verb stands at the option there (`Option.help`) and follows the meaning in the help.
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
    "--account": Meaning("Account or project of a job, in place of the site's.", BATCH),
    "--algorithm": Meaning("Algorithm of the collective."),
    "--allocation": Meaning("Only the first so many nodes, in leaf order. [default: all]", MACHINE),
    "--allocation-nodes": Meaning("Only these nodes: 0-15,32.", MACHINE),
    "--any-level": Meaning("Take all that was measured, whatever the level of the machine.", MACHINE),
    "--bandwidth": Meaning("Bandwidth of messages, such as 10GB/s."),
    "--bound": Meaning("Measure the memory traffic that bounds an iteration, too."),
    "--bytes": Meaning("Size of a message, such as 64KiB."),
    "--cache": Meaning("Buffers in the caches (warm) or out of them (off).", MACHINE),
    "--cell-time": Meaning("What a rank takes for a cell in an iteration, such as 0.9ns."),
    "--csv": Meaning("Write it as CSV, too.", RESULT),
    "--dry-run": Meaning("Only print what would be done; nothing is launched."),
    "--eps": Meaning("A solution ends where ‖r‖ ≤ eps times the first."),
    "--exchange": Meaning("How neighbours exchange messages."),
    "--figure": Meaning("Draw it: .svg, .png or .html.", RESULT),
    "--format": Meaning("Format.", RESULT),
    "--formulation": Meaning("Formulation of the solver."),
    "--gap": Meaning("g of LogGP: the time between two messages of a rank."),
    "--grid": Meaning("Processes along x, y and z, such as 4x3x2."),
    "--halo": Meaning("How neighbours exchange their faces."),
    "--hosts": Meaning("Hosts, as NAME or NAME:SLOTS, with commas between.", LAUNCH),
    "--iterations": Meaning("Consecutive iterations."),
    "--json": Meaning("Print one JSON object instead of text.", RESULT),
    "--latency": Meaning("Latency of a message, such as 2.5us."),
    "--launches": Meaning("Launches over which each time is spread."),
    "--link": Meaning("Rate of a link in one direction, such as 100Gbit/s.", MACHINE),
    "--links-per-node": Meaning("Links of a node."),
    "--locality": Meaning("How far ranks are apart: core, cache, numa, package, node or network.", MACHINE),
    "--machine": Meaning("Machine file.", MACHINE),
    "--map-by": Meaning("Where the launcher puts consecutive ranks.", LAUNCH),
    "--mapping": Meaning("How ranks are mapped to cores: core, socket, node, …", MACHINE),
    "--memory-bandwidth": Meaning("Memory bandwidth, such as 10GB/s."),
    "--model": Meaning("Model."),
    "--mpi": Meaning("MPI library.", LAUNCH),
    "--nodes": Meaning("Number of nodes.", MACHINE),
    "--now": Meaning("Submit what was written, too.", BATCH),
    "--operation": Meaning("Operation."),
    "--output": Meaning("Where the result goes.", RESULT),
    "--overhead": Meaning("o of LogGP: a processor's time to send, and to receive."),
    "--partition": Meaning("Partition or queue of a job, in place of the site's.", BATCH),
    "--ppn": Meaning("Ranks on a node.", MACHINE),
    "--quick": Meaning("A first answer soon, with wider intervals."),
    "--radix": Meaning("Fan-out or radix, for the algorithms that take one; 0: the algorithm's default."),
    "--ranks": Meaning("Number of ranks."),
    "--reduction": Meaning("γ: the time to reduce a byte, such as 0.1ns, or a rate."),
    "--resume": Meaning("Go on with what was begun; its plan is kept."),
    "--root": Meaning("Root of the collective."),
    "--samples": Meaning("How many are drawn at random."),
    "--seed": Meaning("Seed of what is drawn at random."),
    "--segment": Meaning("Size of a segment, such as 4KiB, or none."),
    "--site": Meaning("Site file: partition, account, modules, launcher; a name or a path.", BATCH),
    "--size": Meaning("Extents of the whole problem, such as 200x200x100."),
    "--split": Meaning("How the elements are split over the ranks."),
    "--statistic": Meaning("Which time, such as one_way, completion or mean_over_ranks."),
    "--stores": Meaning("How results are stored."),
    "--subdomain": Meaning("Cells that each rank has."),
    "--submit": Meaning("Write a job script, and measure nothing here.", BATCH),
    "--system": Meaning("Name of the system.", MACHINE),
    "--table": Meaning("Campaign or tidy table with times of collectives.", MACHINE),
    "--threads": Meaning("OpenMP threads of each rank."),
    "--time-limit": Meaning("Time after which it is given up, such as 60s."),
    "--topology": Meaning("Network between the nodes, such as torus:8x8x8 or fat-tree:nodes=148,….", MACHINE),
    "--trust": Meaning("Run what the plan of somebody else's campaign names."),
    "--variant": Meaning("Variant of a launch, such as one of its transports."),
    "--walltime": Meaning("Time limit of a job.", BATCH),
    "--where": Meaning("Only what has NAME=VALUE, such as mapping=core; several: write it again.", MACHINE),
}
"""By the options' names. `tests/terminal/test_vocabulary.py` refuses a name of several verbs that is not here."""

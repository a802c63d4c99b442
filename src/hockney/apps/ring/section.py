"""The ring: time of a cycle."""

from __future__ import annotations

from hockney.apps.ring.answer import RingAnswer
from hockney.apps.ring.model import MachineLinks, around, predict
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Basis, Contribution, Runs, app_sections
from hockney.report.run_tables import ReportedRun
from hockney.report.runs_section import Program, section


class Ring(Program):
    """Its processes wait for nothing but messages."""

    name = "ring"
    title = "Ring"
    meaning = (
        "In each of as many hops as there are processes, every process sends a message of 4 B to either "
        "neighbour and waits for one from either. A cycle ends when all have their own two messages back."
    )
    unit = "a cycle"
    rate = "hops/s"
    about_prediction = (
        "twice the slowest link between neighbours in each hop where messages are exchanged in turns, once and "
        "what sending and receiving keep a processor busy where both travel at once."
    )

    def reported(self, record: AppRecord) -> ReportedRun:
        """A cycle."""
        parameters = record.parameters
        topology = "" if parameters["topology"] == "world" else f", {parameters['topology']}"
        return ReportedRun(
            record,
            problem="",
            way=f"{parameters['exchange']}{topology}",
            rate=record.ranks / record.time_s if record.time_s else None,
        )

    def predicted_s(self, record: AppRecord, basis: Basis) -> tuple[float | None, list[str]]:
        """By the slowest link around the ring as it was placed."""
        positions = record.answer.read_as(RingAnswer).positions
        order = sorted(range(record.ranks), key=lambda rank: positions[rank])
        links = MachineLinks(basis.of(record))
        prediction = predict(around(basis.placement(record), order), links, record.parameters["exchange"])
        return None if prediction is None else prediction.time_s, links.notes


@app_sections.register("ring")
def ring(runs: Runs) -> Contribution:
    """Its section."""
    return section(Ring(), runs)

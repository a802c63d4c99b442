"""Pong: time of a message there and back."""

from __future__ import annotations

from hockney.apps.pong.answer import PongAnswer
from hockney.apps.pong.model import FORMULA, there_and_back_s
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Basis, Contribution, Runs, app_sections
from hockney.report.run_tables import ReportedRun
from hockney.report.runs_section import Program, section
from hockney.units import format_bytes


class Pong(Program):
    """Its two ranks do nothing but send and receive."""

    name = "pong"
    title = "Pong"
    meaning = "A message goes from one rank to another and back; both check what they receive."
    unit = "a message there and back"
    rate = "MB/s"
    about_prediction = f"{FORMULA}, with α and β of a ping-pong between the same places."

    def reported(self, record: AppRecord) -> ReportedRun:
        """Bytes in both directions make the rate."""
        size_B, wrong = int(record.parameters["bytes"]), record.answer.read_as(PongAnswer).wrong_messages
        way = f"{wrong} wrong messages" if wrong else ""
        return ReportedRun(record, format_bytes(size_B), way=way, rate=2 * size_B / record.time_s / 1e6)

    def predicted_s(self, record: AppRecord, basis: Basis) -> tuple[float | None, list[str]]:
        """For the locality of the two ranks."""
        locality = basis.placement(record).locality(0, 1)
        return there_and_back_s(basis.of(record), int(record.parameters["bytes"]), locality), []


@app_sections.register("pong")
def pong(runs: Runs) -> Contribution:
    """Its section."""
    return section(Pong(), runs)

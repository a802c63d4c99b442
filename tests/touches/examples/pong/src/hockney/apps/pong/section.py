"""Pong: time of a message there and back."""

from __future__ import annotations

from hockney.apps.pong.app import APP, PongAnswer
from hockney.apps.pong.predict import there_and_back_s
from hockney.records.app_record import AppRecord
from hockney.report import runs_section
from hockney.report.app_sections import Basis, Contribution, Runs
from hockney.report.run_tables import ReportedRun
from hockney.units import format_bytes


def reported(record: AppRecord) -> ReportedRun:
    """Bytes in both directions make the rate."""
    size_B, wrong = int(record.parameters["bytes"]), record.answer.read_as(PongAnswer).wrong_messages
    way = f"{wrong} wrong messages" if wrong else ""
    return ReportedRun(record, format_bytes(size_B), way=way, rate=2 * size_B / record.time_s / 1e6)


def predicted_s(record: AppRecord, basis: Basis) -> tuple[float | None, list[str]]:
    """For the locality of the two ranks."""
    locality = basis.placement(record).locality(0, 1)
    return there_and_back_s(basis.of(record), int(record.parameters["bytes"]), locality), []


def section(runs: Runs) -> Contribution:
    """Its section."""
    return runs_section.section(APP, runs, reported, predicted_s)

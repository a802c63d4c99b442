"""Answers about effects become one model for each system, placement, library and locality."""

from __future__ import annotations

from hockney.machine.effects import effects_of
from hockney.machine.file import Machine, MeasuredSystem, Provenance
from hockney.records.effect_record import EffectRecord
from hockney.report.views.sections import of_effects


def record(**choices: object) -> EffectRecord:
    common = {
        "effect": "overlap",
        "locality": "cache",
        "mpi": "X 1",
        "system": "A",
        "ranks": 2,
        "nodes": 1,
        "ppn": 2,
    }
    return EffectRecord.model_validate({**common, "not_measurable": "why", **choices})


def test_systems_and_placements_stay_apart() -> None:
    found = effects_of([record(), record(system="B"), record(nodes=2), record(), record(mpi="Y 2")])
    assert len(found) == 4
    assert {(one.system, one.placement, one.mpi) for one in found} == {
        ("A", "2 ranks on 1 node", "X 1"),
        ("B", "2 ranks on 1 node", "X 1"),
        ("A", "2 ranks on 2 nodes", "X 1"),
        ("A", "2 ranks on 1 node", "Y 2"),
    }


def test_a_heading_tells_the_system_only_where_there_are_several() -> None:
    def headings(*records: EffectRecord) -> list[str]:
        machine = Machine(
            hockney_version="0",
            created="",
            system=MeasuredSystem(),
            mpi=[],
            point_to_point=[],
            effects=effects_of(records),
            provenance=Provenance(),
        )
        return [section.heading for section in of_effects(machine)]

    assert headings(record()) == ["overlap, locality cache, mpi X 1"]
    assert headings(record(), record(system="B")) == [
        "overlap, locality cache, mpi X 1, system A",
        "overlap, locality cache, mpi X 1, system B",
    ]

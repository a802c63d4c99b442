"""Results of `hockney tune --verify`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.factories import not_none
from tests.fuzz.mutation import Json
from tests.fuzz.parser import Parser, parsers

from hockney.records.verification import FILE, find
from hockney.report.verified import section


def seeds() -> Sequence[bytes]:
    """A verification with all fields, and one with what it must have."""
    whole = (
        b'{"schema_version": 1, "time": "2026-11-23T12:00:00Z", "target": "rules", "library": "Open MPI 5.0.11", '
        b'"launches": 5, "proofs": [{"operation": "bcast", "effect": "proven", "why": "it changes", '
        b'"algorithm": "tuned:linear", "ranks": 8, "bytes": 64, "expected": 3.0, "seen": 3.1, "seen_low": 2.9, '
        b'"seen_high": 3.2}], "cells": [{"operation": "bcast", "ranks": 8, "bytes": 64, '
        b'"algorithm": "tuned:chain", "verdict": "faster", "is_kept": true, '
        b'"default_s": 2e-6, "tuned_s": 1e-6, "best": "tuned:chain", '
        b'"best_s": 1e-6, "gain": 2.0, "gain_low": 1.9, "gain_high": 2.1, "regret": 0.0}]}'
    )
    least = (
        b'{"time": "", "target": "", "library": "", "launches": 4, "proofs": [{"operation": "bcast", "effect": '
        b'"none", "why": ""}], "cells": [{"operation": "bcast", "ranks": 8, "bytes": 64, "verdict": "not timed", '
        b'"is_kept": false}]}'
    )
    return [whole, least]


def read(data: bytes, folder: Path) -> str:
    """The verification, and its section of the report."""
    (folder / FILE).write_bytes(data)
    found = not_none(find(folder))
    assert section(found) is not None
    return FILE


parsers.register("verification")(Parser(seeds, Json(), read, turn=5))

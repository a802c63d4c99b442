"""What other benchmarks print and write: every importer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.mutation import Text
from tests.fuzz.parser import Parser, parsers
from tests.importers import test_forms as forms
from tests.importers import test_nccl_tests as nccl
from tests.importers import test_pico as pico
from tests.importers.reading import DATA

from hockney.importers import _collect
from hockney.importers.base import Given

RAW = "512_ring_ompi_int32.csv"
"""PICO says by the names of files and folders what was measured."""


def seeds() -> Sequence[bytes]:
    """The texts of the importers' tests, and tables as PICO and nccl-tests write them."""
    texts = [path.read_bytes() for path in sorted(DATA.iterdir())]
    printed = f"# Collective test starting: all_reduce_perf\n{nccl.HEAD}{nccl.devices(4)}{nccl.COLUMNS}{nccl.ROW}"
    more = (
        "highest\n9000000\n0\n30\n10\n20\n50\n40\n60\n80\n70\n",
        "highest\n30\n10\n20\n50\n40\nAverage runtime: 0.000111\n",
        pico.SUMMARY + "".join(pico.ROW.format("bcast", size, 4 * size) for size in (1, 8, 64)),
        pico.AGGREGATED + pico.AGGREGATED_ROW * 2,
        printed,
        *(forms.FORMS[form] for form in ("JSON in JSON", "notebook", "printed object", "quoted cells")),
    )
    return [*texts, *(text.encode() for text in more)]


def read(data: bytes, folder: Path) -> str:
    """A campaign's worth of records."""
    place = folder / "results" / "mare" / "2025_01_01___10_00_00" / "1"
    place.mkdir(parents=True)
    (folder / "results" / "mare_metadata.csv").write_text(pico.METADATA)
    is_raw, is_table = data.startswith(b"highest"), b"," in data.partition(b"\n")[0]
    path = place / (RAW if is_raw else "r.json" if data.startswith(b"{") else "r.csv" if is_table else "r.txt")
    path.write_bytes(data)
    _collect.collect([path], Given())
    return str(path)


parsers.register("results")(
    Parser(
        seeds,
        Text(),
        read,
        ("import FILE -o c --json", "import FILE -o c --nodes 2 --ppn 1 && fit c -o m.json"),
        each=16,
        turn=10,
    )
)

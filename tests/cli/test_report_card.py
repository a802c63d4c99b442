"""`hockney report --card`: of a machine file, a published machine, a table; and wrong requests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import Run
from tests.factories import VERSION_1, verb

pytestmark = pytest.mark.usefixtures("undrawn")

run = verb("report", "--card")


def test_of_a_machine_file(run: Run) -> None:
    out = run.prints(VERSION_1, "-o", "card.html")
    assert "the latency is 0.2 µs (95 %: 0.198 to 0.202 µs), at 0 B" in out
    assert "<h1>MPI point to point on twin</h1>" in Path("card.html").read_text(encoding="utf-8")


def test_another_format_than_html_is_refused(run: Run) -> None:
    err = run.refuses(VERSION_1, "-o", "c.pdf")
    assert "c.pdf: a report is HTML, not .pdf" in err
    assert "-o c.html" in err
    assert not Path("c.pdf").exists()


def test_of_a_published_machine_as_json(run: Run) -> None:
    code, out, _ = run("bluegene_p", "-o", "bgp.html", "--json")
    data = json.loads(out)
    assert (code, data["report"]) == (0, "bgp.html")
    assert Path("bgp.html").is_file()
    assert data["findings"][0]["verdict"] == "look", "nothing says how well a published number is known"
    assert "published, not measured here" in data["warnings"][0]


def test_of_a_table(run: Run) -> None:
    Path("tidy.csv").write_text(
        "system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,statistic,time_us,repetition\n"
        + "".join(
            f"own,Some MPI 1.0,pingpong,default,core,1,2,2,{size},one_way,{1 + size / 1000},\n"
            for size in (1, 8, 64, 512, 4096, 32768, 262144)
        ),
        encoding="utf-8",
    )
    out = run.prints("tidy.csv")
    # 1 µs was planted; the largest message takes 263.144 µs.
    assert "the latency is 1 µs (no interval), at 1 B" in out
    assert "the peak bandwidth is 996 MB/s (no interval), at 256 KiB" in out


def test_options_of_the_whole_report_are_refused(run: Run) -> None:
    err = run.refuses(VERSION_1, "--figure", "figures", "--peak", "x=1GB/s")
    assert "--card does not take --peak, --figure" in err

"""`hockney report --card`: of a machine file, a published machine, a table; and wrong requests."""

from __future__ import annotations

import json
from pathlib import Path

from tests.command_line import Run
from tests.factories import VERSION_1, verb

run = verb("report", "--card")


def test_of_a_machine_file(run: Run) -> None:
    out = run.prints(VERSION_1, "-o", "card.html")
    assert "latency, one package: 0.2 µs (0.198 to 0.202 µs)" in out
    assert "<h1>MPI on twin</h1>" in Path("card.html").read_text(encoding="utf-8")


def test_another_format_than_html_is_refused(run: Run) -> None:
    err = run.refuses(VERSION_1, "-o", "c.pdf")
    assert "c.pdf: a report is HTML, not .pdf" in err
    assert "-o c.html" in err
    assert not Path("c.pdf").exists()


def test_of_a_published_machine_as_json(run: Run) -> None:
    code, out, _ = run("bluegene_p", "-o", "bgp.html", "--json")
    data = json.loads(out)
    assert (code, data["card"], data["title"]) == (0, "bgp.html", "Blue Gene/P")
    assert Path("bgp.html").is_file()
    assert {"messages", "effects", "collectives", "limits", "provenance"} <= data.keys()
    assert [one["title"] for one in data["collectives"]] == ["barrier", "bcast", "allreduce", "alltoall"]


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
    assert "latency, two ranks: 1.001 µs" in out  # as measured at 1 B, by 1 µs + n / (1 GB/s)
    assert "peak, two ranks: 996.2 MB/s" in out


def test_options_of_the_whole_report_are_refused(run: Run) -> None:
    err = run.refuses(VERSION_1, "--figure", "figures", "--peak", "x=1GB/s")
    assert "--card does not take --peak, --figure" in err

"""One table in every form in which text is passed on, and where a table ends."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.importers.reading import columns

from hockney.importers import _collect, imb, osu
from hockney.importers._lines import split_lines
from hockney.importers.base import Given, Imported

ROWS = {1: 1.01, 8: 1.05, 1024: 1.5, 4096: 3.4, 1048576: 120.25}
HEAD = "# OSU MPI Latency Test v7.5\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n"
TABLE = HEAD + "".join(f"{size:<10}{time_us:20.2f}\n" for size, time_us in ROWS.items())
POINTS = [(size, pytest.approx(time_us * 1e-6, rel=1e-14)) for size, time_us in ROWS.items()]


def read(text: str) -> Imported:
    assert osu.recognises(Path("f"), text)
    return osu.read(Path("f"), text, Given())


def each_line(form: str) -> str:
    return "".join(form.format(line) + "\n" for line in TABLE.splitlines())


def notebook(text: str) -> str:
    outputs = [{"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}]
    cell = {"cell_type": "code", "source": ["!mpirun -np 2 osu_latency"], "outputs": outputs}
    return json.dumps({"cells": [cell], "metadata": {"kernelspec": {"name": "python3"}}, "nbformat": 4}, indent=1)


FORMS = {
    "JSON": json.dumps([{"name": "osu", "args": ["-np", "2"], "stdout": TABLE, "rc": 0}]),
    "JSON in JSON": json.dumps({"message": json.dumps({"stdout": TABLE})}),
    "bytes of Python": f"stdout: {TABLE.encode()!r}\n",
    "JSON with lists of lines": json.dumps({"data": TABLE.splitlines()}, indent=2),
    "JSON with a list in one line": json.dumps({"data": TABLE.splitlines()}),
    "log of a container": "".join(
        json.dumps({"log": line + "\n", "stream": "stdout", "time": "2025-01-01T00:00:00Z"}) + "\n"
        for line in TABLE.splitlines()
    ),
    "notebook": notebook(TABLE),
    "printed object": f"done: CompletedProcess(args=['mpirun'], returncode=0, stdout={TABLE!r})\n",
    "Markdown": TABLE.replace("#", r"\#").replace("_", r"\_"),
    "blanks of HTML": TABLE.replace(" ", "&nbsp;"),
    "tabs": re.sub(" {2,}", "\t", TABLE),
    "tabs, without a sign before the header": re.sub(" {2,}", "\t", TABLE).replace("# Size", "Size"),
    "cells beside the title": "".join(
        ("run 1" if n == 0 else "") + "\t" + re.sub(" {2,}", "\t", line) + "\n"
        for n, line in enumerate(TABLE.splitlines())
    ),
    "quoted cells": "".join(
        ",".join(f'"{cell}"' for cell in re.split(" {2,}", line)) + "\n" for line in TABLE.splitlines()
    ),
    "semicolons and decimal commas": re.sub(" {2,}", ";", TABLE).replace(".", ","),
    "HTML": "<pre>" + TABLE + "</pre>\n",
    "cell of a table with line ends": 'osu_latency,2,"' + TABLE + '"\n',
    "list of YAML": "".join(f'  - "{line}"\n' for line in TABLE.splitlines()),
    "table of Markdown": "".join(f"| {re.sub(' {2,}', ' | ', line)} |\n" for line in TABLE.splitlines()),
    "carriage returns": TABLE.replace("\n", "\r"),
    "Windows": TABLE.replace("\n", "\r\n"),
    "progress over carriage returns": TABLE.replace("\n1 ", "\nat 10 %\rat 20 %\r1 ", 1),
    "colours": each_line("\x1b[1;32m{}\x1b[0m"),
    "colours in caret notation": each_line("^[[32m{}^[[0m"),
    "colours without escape": each_line("[32m{}[0m"),
    "decimal commas": HEAD + TABLE.removeprefix(HEAD).replace(".", ","),
    "tags": each_line("[1,0]<stdout>:{}"),
    "OMB-Py": TABLE.replace("OSU MPI Latency Test v7.5", "OMB-Py MPI Latency Test").replace(
        "Size       Avg Latency(us)", "Size (B)        Latency (us)"
    ),
    "mpi4py": TABLE.replace("OSU MPI Latency Test v7.5", "MPI Latency Test").replace(
        "Size       Avg Latency(us)", "Size [B]        Latency [us]"
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_table(form: str) -> None:
    imported = read(FORMS[form])
    assert columns(imported, "bytes", "value") == POINTS
    assert imported.left_out() == []
    variant = form if form in ("OMB-Py", "mpi4py") else ""
    assert {(r.operation, r.ranks, r.variant) for r in imported.records} == {("pingpong", 2, variant)}


def test_lines_keep_their_numbers() -> None:
    text = FORMS["JSON with lists of lines"]
    place = {line.text: line.number for line in split_lines(text)}
    for line in TABLE.splitlines():
        assert f'"{line}"' in text.split("\n")[place[line] - 1]


def test_a_comma_before_three_digits_is_not_guessed() -> None:
    """1,234 µs may be one or a thousand."""
    imported = read(HEAD + "1         1.01\n2         1,234\n")
    assert columns(imported, "bytes") == [(1,)]
    assert imported.warnings[0].startswith("f:5: not a row of this table")


def test_commas_between_thousands_are_left_out() -> None:
    """A size is a whole number; a value that has a point, too, has no decimal comma."""
    imported = read(HEAD + "1\t1.01\n1,024\t9.50\n4,194,304\t1,380.25\n")
    made = {record.bytes: record.value for record in imported.records}
    assert made == pytest.approx({1: 1.01e-6, 1024: 9.5e-6, 4194304: 1380.25e-6})
    assert imported.left_out() == []


def test_json_that_was_cut_inside_a_number() -> None:
    text = json.dumps({"stdout": TABLE})
    imported = read(text[: text.index("120.25") + 4])
    assert columns(imported, "bytes", "value") == POINTS[:-1]
    assert "the file ends inside this line" in imported.warnings[0]


def test_the_command_of_a_cell_stands_above_its_output() -> None:
    """Notebooks have it below: it would be that of the next cell. Counts beside a text stand above it, too."""
    said = [line.text for line in split_lines(notebook(TABLE))]
    assert said == ["!mpirun -np 2 osu_latency", *TABLE.splitlines()]
    text = json.dumps({"stdout": TABLE, "took_s": 3.5, "num_tasks": 2, "command": "srun -n 2 osu_latency"})
    assert [line.text for line in split_lines(text)][:2] == ["num_tasks=2", "srun -n 2 osu_latency"]
    lines = [line for line in split_lines(f"{text}\n{text}\n") if line.text == "num_tasks=2"]
    assert [line.number for line in lines] == [1, 2]


def test_fields_beside_a_text_are_no_lines_of_it() -> None:
    (line,) = split_lines('{"log": "1  1.01\\n", "stream": "stdout", "id": 7}')
    assert line.text == "1  1.01"


OTHER = {
    "names of other columns, then the same print": f"n time\n{8388608:<10}{12.1:20.2f}\n",
    "columns of another program": "\nstencil finished\n          N        GFLOPS\n      8192000         12.10\n",
    "the same without a blank line": "solver finished\n  8192000         12.10\n",
    "a larger size behind a comment": f"# my own table\n{8388608:<10}{12.1:20.2f}\n",
    "the header of OSU in another program": f"# Size       Avg Latency(us)\n{8388608:<10}{12.1:20.2f}\n",
    "words below a blank line, then the same print": f"\nmy results\n{8388608:<10}{12.1:20.2f}\n",
    "smaller sizes right below": f"{64:<10}{12.1:20.2f}\n",
    "other decimals": f"done\n{8388608:<10}{12.1:20.4f}\n",
}


@pytest.mark.parametrize("other", OTHER)
def test_a_table_ends_where_it_ends(other: str) -> None:
    imported = read(TABLE + OTHER[other] + "16777216            99.00\n")
    assert columns(imported, "bytes", "value") == POINTS
    (warning,) = imported.warnings
    assert "no row of the OSU Latency above" in warning
    assert "12.1" in warning


@pytest.mark.parametrize(
    "noise",
    [
        "\n-----------\nWARNING: There was an error initializing a device.\n\n  Local host:   n1\n-----------\n",
        "[n1:42] 1 more process has sent help message help-mpi.txt\n",
        "\n\n",
    ],
)
def test_noise_inside_a_table_costs_no_row(noise: str) -> None:
    """What a library prints; rows go on in their columns."""
    assert columns(read(TABLE.replace("\n1024 ", f"\n{noise}1024 ")), "bytes", "value") == POINTS


def test_words_between_rows_that_lost_their_blanks_end_the_table() -> None:
    text = re.sub(" +", " ", TABLE).replace("\n4096 ", "\nresults of my run\n4096 ")
    imported = read(text)
    assert columns(imported, "bytes", "value") == POINTS[:3]
    assert "f:8: no row of the OSU Latency above" in imported.warnings[0]


def test_datatypes_of_one_run_are_blocks_of_it() -> None:
    more = "# Datatype: MPI_FLOAT.\n# Size       Avg Latency(us)\n" + TABLE.removeprefix(HEAD)
    assert [r.variant for r in read(TABLE + more).records] == [""] * 5 + ["MPI_FLOAT"] * 5


@pytest.mark.parametrize(
    ("prefix", "glued"),
    [
        ("", "libfoo: warning 8    1.05"),
        ("", "WARNING8    1.05"),
        ("0: ", "0: WARNING8    1.05"),
        ("[1,0]<stdout>:", "[n1:3] x[1,0]<stdout>:8    1.05"),
    ],
)
def test_a_row_behind_other_words_is_named(prefix: str, glued: str) -> None:
    imported = read("".join(f"{glued if line[0] == '8' else prefix + line}\n" for line in TABLE.splitlines()))
    assert columns(imported, "bytes", "value") == [POINTS[0], *POINTS[2:]]
    (warning,) = imported.warnings
    assert warning.startswith("f:5: a row with other words before it, left out")


IMB_TABLE = (
    "# Benchmarking Alltoall \n# #processes = 32 \n"
    "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
    + "".join(f"{size:13}{1000:13}{5.1:13.2f}{5.3:13.2f}{5.2:13.2f}\n" for size in (1, 2))
)


@pytest.mark.parametrize(
    "other", ["\nmy table: n reps min max avg\n", "# All processes entering MPI_Finalize\n\n", "#bytes reps\n"]
)
def test_five_columns_below_an_imb_table_are_none_of_its_rows(other: str) -> None:
    text = IMB_TABLE + other + "   64   100   1.10   1.20   1.15\n"
    imported = imb.read(Path("f"), text, Given())
    assert {r.bytes for r in imported.records} == {1, 2}
    assert "no row of the IMB Alltoall above" in imported.warnings[0]


@pytest.mark.parametrize(
    ("below", "reason"),
    [
        ("", "the run did not finish"),
        ("*** An error occurred in MPI_Init\n", "this is no row of it: *** An error occurred in MPI_Init"),
        ("# Size in MB and s\n1 2\n", "unknown or repeated columns, table left out: Size in MB and s"),
        ("# Size  Latency (us)  Latency (us)\n1 2 3\n", "unknown or repeated columns"),
    ],
)
def test_the_reason_for_an_empty_table_is_true(below: str, reason: str) -> None:
    assert reason in read("# OSU MPI Latency Test v7.5\n" + below).warnings[0]


@pytest.mark.parametrize(
    ("title", "operation"),
    [("OMB Python MPI Allreduce Test", "allreduce"), ("OMB-Py MPI Bandwidth Test", "bandwidth")],
)
def test_titles_of_omb_py(title: str, operation: str) -> None:
    unit = "Bandwidth (MB/s)" if operation == "bandwidth" else "Latency (us)"
    imported = read(f"# {title}\n# Size (B)  {unit}\n8   9.50\n")
    assert {(r.operation, r.bytes, r.variant) for r in imported.records} == {(operation, 8, "OMB-Py")}


def test_collectives_of_mpi4py_are_times_of_one_rank() -> None:
    imported = read("# MPI Barrier Latency Test\n# Size [B]   Latency [us]\n0    9.50\n")
    assert imported.records == []
    assert "the time of rank 0 alone" in imported.not_imported[0]


def test_options_that_override_a_launch_line_leave_no_rank_idle(tmp_path: Path) -> None:
    """32 of 64 launched ranks would be somewhere on the nodes; `--ranks 32` says that 32 were launched."""
    table = TABLE.replace("MPI Latency", "MPI Allreduce Latency")
    (tmp_path / "f").write_text(f"+ mpirun -np 64 ./osu_allreduce\n{table}")
    frame = _collect.collect([tmp_path / "f"], Given(ranks=32, nodes=4, ppn=8)).records.frame
    assert {*zip(frame["ranks"], frame["nodes"], frame["ppn"], strict=True)} == {(32, 4, 8)}

"""Rings of other programs: printed wall times, tables of processes, and what of them is not whole."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import pytest
from tests.factories import written
from tests.importers import reading
from tests.importers.reading import DATA

from hockney.errors import RequestError
from hockney.importers import _collect
from hockney.importers import ring as module
from hockney.importers._summary import summary
from hockney.importers.base import Given, load_text
from hockney.records.contents import read as read_contents

read_text = partial(reading.read_text, module)


def test_wall_times_of_one_ring() -> None:
    (run,) = read_text(load_text(DATA / "ring_walltimes.txt")).apps
    assert (run.operation, run.ranks) == ("ring", 4)
    # The slowest process's wall time over ten cycles, which has a digit more than the printed average.
    assert run.time_s == pytest.approx(2.6877e-5, rel=1e-12)
    said = run.answer.as_said()
    assert said["cycles"] == 10
    assert said["means_s"] == pytest.approx([2.3979e-5, 2.6223e-5, 2.6877e-5, 1.7639e-5])


def _lines(ranks: int, each_s: float, order: list[int], *, says_how_many: bool) -> list[str]:
    lines = []
    for rank in order:
        if says_how_many:
            lines.append(
                f"I am process {rank} and I have received {2 * ranks} messages. My final messages have tags "
                f"{10 * rank}, {10 * rank}; values -1, 1"
            )
        lines.append(f"# walltime on processor {rank} after 2 iterations {2 * each_s:.8f}. Average: {each_s:.8f}")
    return lines


def test_rings_one_after_another_in_any_order_of_processes() -> None:
    lines = _lines(2, 1e-6, [1, 0], says_how_many=True) + _lines(3, 2e-6, [2, 0, 1], says_how_many=True)
    made = read_text("\n".join(lines))
    assert [run.ranks for run in made.apps] == [2, 3]
    assert [run.time_s for run in made.apps] == pytest.approx([1e-6, 2e-6])
    assert made.warnings == []


def test_without_a_number_of_messages_a_process_that_comes_again_begins_another_ring() -> None:
    lines = _lines(2, 1e-6, [0, 1], says_how_many=False) + _lines(3, 2e-6, [0, 2, 1], says_how_many=False)
    assert [run.ranks for run in read_text("\n".join(lines)).apps] == [2, 3]
    # The user may say how many there are, where a ring begins with a process that the last one did not have.
    mixed = "\n".join([*_lines(2, 1e-6, [0, 1], says_how_many=False)] * 2)
    assert [run.ranks for run in read_text(mixed, Given(ranks=2)).apps] == [2, 2]


def test_a_ring_that_says_its_hops_has_as_many_processes() -> None:
    lines = [
        line
        for rank in range(4)
        for line in (
            f"I am process {rank} and I have received 4 messages. My final messages have tag {10 * rank} and "
            "value msg-left -6, msg-right 6",
            f"# walltime on processor {rank} after 10 iterations 0.0004. Average: 0.00004",
        )
    ]
    (run,) = read_text("\n".join(lines)).apps
    assert run.ranks == 4


def test_a_ring_that_lacks_a_process_is_named() -> None:
    lines = _lines(3, 1e-6, [0, 2], says_how_many=True) + _lines(2, 1e-6, [0, 1], says_how_many=True)
    made = read_text("\n".join(lines))
    assert [run.ranks for run in made.apps] == [2]
    assert made.warnings == ["f: a ring of 3 has wall times of 2 processes; left out"]


@pytest.mark.parametrize("total", ["0.00000000", "nan", "1e99"])
def test_what_is_no_time_is_left_out(total: str) -> None:
    made = read_text(f"# walltime on processor 0 after 10 iterations {total}. Average: 0.0")
    assert made.apps == []
    assert len(made.warnings) == 1


def test_a_table_of_processes() -> None:
    (run,) = read_text(load_text(DATA / "ring_processes.csv")).apps
    assert (run.ranks, run.time_s) == pytest.approx((5, 7.074060e-6))
    # The slowest process: mean ± 1.96 s/√N, in µs.
    reach = 1.96 * math.sqrt(1430.666 / 9999) * 1e-6
    assert (run.low_s, run.high_s) == pytest.approx((7.07406e-6 - reach, 7.07406e-6 + reach))
    assert run.answer.as_said()["variances_s2"][0] == pytest.approx(1425.467e-12)


def test_a_table_whose_columns_are_set_apart_by_blanks() -> None:
    text = load_text(DATA / "ring_processes.csv").replace(",", "\t").replace("\tP\t", "\t\u0420\t", 1)
    assert [run.ranks for run in read_text(text).apps] == [5]


def test_a_table_without_a_header_is_known_by_its_numbers() -> None:
    rows = [f"{rank},3,{mean},{mean / 3:.6f},4.0,4.1,10000,2.0,2.02" for rank, mean in enumerate((6.0, 6.6, 6.3))]
    (run,) = read_text("\n".join(rows)).apps
    assert run.ranks == 3
    assert run.time_s == pytest.approx(6.6e-6)
    assert read_text("\n".join(rows).replace(",", " ")).apps == [run]
    assert not module.recognises(Path("np3.csv"), "\n".join(rows).replace("2.0000", "3.0000"))


def test_means_of_nobody_knows_what_are_refused() -> None:
    with pytest.raises(RequestError, match="not of what, nor their unit"):
        read_text("Np,mean\n2,3.4\n")


def test_a_table_of_several_rings_and_one_that_is_not_whole() -> None:
    text = "rank,P,t_mean,N,mapping,exchange\n0,2,1,9,core,sendrecv\n1,2,3,9,core,sendrecv\n"
    text += "0,2,5,9,node,sendrecv\n1,2,4,9,node,sendrecv\n0,3,1,9,core,sendrecv\n"
    made = read_text(text)
    assert [(run.mapping, run.parameters) for run in made.apps] == [
        ("core", {"exchange": "sendrecv"}), ("node", {"exchange": "sendrecv"}),
    ]  # fmt: skip
    assert [run.time_s for run in made.apps] == pytest.approx([3e-6, 5e-6])
    assert made.warnings == ["f: a ring of 3 has rows of 1 of them; left out"]
    with pytest.raises(RequestError, match="t_mean 'x' is no time"):
        read_text("rank,P,t_mean,N\n0,1,x,9\n")


def test_runs_of_several_files_are_repetitions_and_folders_are_variants(tmp_path: Path) -> None:
    for folder, each_s in (("thin", 1e-6), ("gpu", 3e-6)):
        (tmp_path / folder).mkdir()
        for run in range(7):
            lines = _lines(2, each_s + run * 1e-7, [0, 1], says_how_many=True)
            (tmp_path / folder / f"run{run}.txt").write_text("\n".join(lines))
    collection = _collect.collect([tmp_path], Given(system="s", mapping="core"))
    _collect.write(collection, tmp_path / "c", Given())
    runs = read_contents(tmp_path / "c").apps
    assert [(run.variant, run.system, run.mapping, len(run.samples_s)) for run in runs] == [
        ("gpu", "s", "core", 7), ("thin", "s", "core", 7),
    ]  # fmt: skip
    # The median of 1.0, 1.1, … 1.6 µs; of seven the first and the last bound it at 98 %, the next at 87 %.
    assert (runs[1].time_s, runs[1].low_s, runs[1].high_s) == pytest.approx((1.3e-6, 1e-6, 1.6e-6))


HEADER = "system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,statistic,time_us,repetition"


def test_a_tidy_table_holds_rings_beside_messages(tmp_path: Path) -> None:
    rows = [f"s,m,ring,sendrecv,core,1,24,{ranks},4,max_over_ranks,{2 * ranks},0" for ranks in range(2, 9)]
    rows.append("s,m,pingpong,,core,1,2,2,8,one_way,0.5,0")
    path = written(tmp_path / "t.csv", "\n".join([HEADER, *rows]) + "\n")
    contents = read_contents(path)
    assert set(contents.frame["operation"]) == {"pingpong"}
    assert [run.ranks for run in contents.apps] == list(range(2, 9))
    assert [run.time_s for run in contents.apps] == pytest.approx([2e-6 * ranks for ranks in range(2, 9)])
    assert contents.apps[0].parameters == {"algorithm": "sendrecv"}
    collection = _collect.collect([path], Given())
    _collect.write(collection, tmp_path / "c", Given())
    imported = read_contents(tmp_path / "c")
    assert (len(imported.records), len(imported.apps)) == (1, 7)
    assert summary(collection, tmp_path / "c").runs == 7


def test_a_run_without_ranks_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", f"{HEADER}\ns,m,ring,,core,1,,,4,max_over_ranks,7,0\n")
    with pytest.raises(RequestError, match="a run of ring has no ranks"):
        read_contents(path)
    (run,) = _collect.collect([path], Given(ranks=3)).apps()
    assert run.ranks == 3

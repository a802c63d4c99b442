"""Wrong requests: each is refused by one line that says what is wrong, with a hint, and leaves nothing behind."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest
from tests.command_line import refusal
from tests.factories import VERSION_1

from hockney.records.table import HEADER

LOGGP, LAYOUT = "--loggops L=2.5us,o=1.5us,g=1us,G=6ns", "--layout vector:1000x24B/100B"
REFUSED: dict[str, list[tuple[str, ...]]] = {
    "": [
        ("nosuchverb", ""),
        ("measure", ""),
        ("measure --ranks many -o x", ""),
        ("measure --ranks 1 -o x", ""),
        ("measure -o x --mpi /no/such/prefix", "is no MPI here"),
        ("measure -o x --largest '4 elephants'", ""),
        ("measure -o x --budget -1s", ""),
        ("measure -o x --tolerance 0", ""),
        ("measure -o x --map-by chair", ""),
        ("measure -o /no/such/campaign --resume", ""),
        ("measure -o x --resume --launches 3", ""),
        ("merge a -o c", ""),
        ("merge a b -o c", ""),
        ("fit .", "is not a campaign folder"),
        ("show absent.json", "no machine file absent.json", "hockney fit CAMPAIGN -o absent.json"),
        ("predict pingpong --machine /no/such/machine.json --bytes 8", ""),
        ("evaluate /no/such/table.csv --operation pingpong", ""),
        ("report /no/such/campaign -o report.html", ""),
        ("import gone.txt -o c", "gone.txt does not exist"),
        ("schema predict brodcast", "no verb 'predict brodcast'"),
        ("show version1.json --model cubic", "'cubic'", "hockney, least_squares, piecewise"),
        ("show version1.json --operation pingpung", "'pingpung'", "did you mean 'pingpong'?"),
        ("predict pingong --bytes 8", "'pingong'", "did you mean 'pingpong'? known: "),
    ],
    "measure -o x --ranks 2": [
        ("--operation ' , '", "--operation: ' , ' "),
        ("--time ''", "--time: '' "),
        ("--operation pingpong --largest 99999TiB", "--largest", "larger than any message (1 TiB)"),
        ("--operation pingpong --bytes 8,1099511627777", "--bytes", "larger than any message (1 TiB)"),
        ("--budget abc", "--budget: "),
        ("--largest -5", "--largest: "),
        ("--bytes 8,abc", "--bytes: "),
        ("--segment abc", "--segment: "),
        ("--launches 1000000000", "--launches", "less than or equal to"),
        ("-o ''", "--output: '' names nothing"),
        ("--quick --resume", "x is not a campaign folder"),
        ("--hosts ./nosuch", "host file: nosuch does not exist"),
        ("--hosts=-oProxyCommand=id", "'-oProxyCommand=id' is not a host"),
        (
            "--operation pingpong,bogus --mpi /no/such/mpi",
            "unknown operation 'bogus'",
            "pingpong",
            "send_overhead",
            "collectives",
            "allreduce",
            "effects",
            "overlap",
        ),
    ],
    "schedule": [
        ("count bcas --algorithm linear --ranks 4", "unknown collective", "did you mean 'bcast'"),
        ("count bcast --algorithm binomal --ranks 4", "unknown algorithm", "'binomial'"),
        ("show bcast --algorithm chain --ranks 4 --segment 0", "segment of 0 B", "none"),
        ("show bcast --algorithm linear --ranks 4 --segment 8", "does not cut"),
        ("show bcast --algorithm knomial:1 --ranks 4", "at least 2"),
        ("show bcast --algorithm linear --ranks 4 --rank 7", "rank 7"),
        ("count bcast --algorithm linear --ranks 4 --bytes many", "many"),
        ("verify --algorithm linear", "needs its collective"),
        ("verify bcast --ranks x", "not understood"),
        ("verify bcast --ranks '²'", "not understood"),
        ("verify bcast --ranks 1-99999999999", "none of 1 to"),
        ("verify bcast --ranks 0", "none of 1 to"),
        ("verify bcast --algorithm ''", "unknown algorithm", "binomial"),
        ("verify allgather --algorithm neighbor_exchange --ranks 7", "even number", "list"),
        ("count bcast --algorithm '' --ranks 4", "names nothing", "binomial"),
        ("count bcast --algorithm knomial:99999999999 --ranks 4", "not a whole number"),
        ("count bcast --algorithm knomial: --ranks 4", "--algorithm: 'knomial:' lacks a radix", "knomial:4"),
        ("count bcast --algorithm knomial:0 --ranks 4", "lacks a radix", "knomial:4"),
        ("count bcast --algorithm linear --ranks 4 --root 4", "root 4 is none of the ranks 0 to 3"),
        ("count allreduce --algorithm all --ranks 4 --root 1", "allreduce has no root"),
        ("count bcast --algorithm linear --ranks 4 --bytes 1e30", "more bytes", "fewer"),
        ("count bcast --algorithm linear --ranks 4 --bytes 1e400", "too large", "64KiB"),
        ("count bcast --algorithm linear --ranks 99999999999", "not a whole number from 0 to"),
        ("count allgather --algorithm ring --ranks 4 --bytes 4e18", "more bytes"),
        ("export reduce --algorithm linear --ranks 2 --reduction inf", "not a time"),
        ("draw bcast --algorithm linear --ranks 1000", "too many"),
        ("draw bcast --algorithm linear --ranks 4 -o x.gif", "x.gif", ".svg"),
    ],
    "simulate bcast --algorithm binomial --ranks 2 --bytes 1000": [
        ("", "needs --loggops L=…, or --machine or --system"),
        ("--loggops L=-1us", "not a time"),
        ("--loggops L=1us,L=2us", "L is given twice"),
        ("--loggops L=1e999s", "too large"),
        ("--loggops G=0GB/s", "moves nothing"),
        ("--loggops G=fast", "not a time for each byte"),
        ("--loggops L=1us --mapping core", "--mapping needs --system"),
        ("--system orfeo-epyc --mapping core --ppn 8 --node-bandwidth 1GB/s", "shared"),
        ("--system orfeo-epyc --mapping core --trace x.csv", "places"),
    ],
    f"simulate bcast --algorithm binomial --ranks 8 --bytes 8 {LOGGP}": [
        ("--ranks 0", "at least 1"),
        ("--bytes 1e30", "more bytes than can be counted"),
        ("--segment 0", "segment of 0 B"),
        ("--algorithm binomial:4", "takes no radix"),
        ("--seed -1 --noise 1us", "--seed': Input should be greater than or equal to 0"),
        ("--ppn 0 --node-bandwidth 1GB/s", "--ppn': Input should be greater than or equal to 1"),
        ("--ppn 2", "changes nothing"),
        ("--topology torus:4x2", "rate of its links"),
        ("--topology torus:4x0,link=1GB/s", "'4x0' has a direction without nodes"),
        ("--topology tree:4,link=1GB/s", "not a tree"),
        ("--noise 1us --trace x.csv", "neither shared links nor places"),
        ("--trace x.txt", "cannot write a trace"),
    ],
    f"simulate {LOGGP}": [
        ("--goal none.goal", "none.goal"),
        ("bcast --goal b.goal", "COLLECTIVE means nothing with --goal"),
        ("--goal b.goal --ranks 3", "--ranks means nothing with --goal"),
        ("bcast --ranks 2", "needs --algorithm, or --goal"),
        ("--goal b.goal --trace t.csv", "graphs"),
    ],
    "scaling": [
        ("amdahl", "amdahl takes its serial fraction, not 0 numbers"),
        ("amdahl 1.1", "neither 0 nor a number from 1e-12 to 1"),
        ("amdahl nan", "to 1"),
        ("amdahl 1e-300", "neither 0 nor a number from 1e-12"),
        ("amdahl 0.1 --efficiency 1.01", "is not an efficiency"),
        ("amdahl 0.1 --efficiency 0", "is not an efficiency"),
        ("amdahl 0.1 --ranks 0", "--ranks"),
        ("usl 2 0", "to 1"),
        ("usl 0.1 1e7", "to 1e+06"),
        ("usl 0.1 inf", "to 1e+06"),
        ("fit none.csv", "does not exist"),
        ("fit times.csv --figure scaling.pdf", "cannot draw a figure"),
        ("fit times.csv --figure none/scaling.svg", "cannot write"),
    ],
    "network traffic --topology torus:4x4 --pattern permutation": [
        ("--bytes 1e308B", "--bytes: '1e308B' is too large"),
    ],
    "network": [
        ("show --topology torus:4x4 --allocation 10-17", "17 is none of 0 to 15"),
        ("show --topology torus:4x4 --allocation 2,0,1-2", "names node 2 more than once"),
        ("show --topology torus:4x4 --figure network.pdf", "cannot draw a figure"),
        ("show --topology hypercube:40", "more than"),
        ("show --topology edges:none.txt", "does not exist"),
        ("traffic --topology torus:4x4 --pattern tornadoo", "unknown traffic 'tornadoo'"),
        ("traffic --topology torus:4x4 --routing xy", "unknown routing 'xy'"),
        ("traffic --topology torus:4x4 --routing up-down", "up-down needs a tree of levels"),
        ("traffic --topology torus:4x4 --routing d-mod-k", "d-mod-k needs a tree of levels"),
        ("traffic --topology torus:4x4 --allocation 17", "17 is none of 0 to 15"),
        ("traffic --topology torus:4x4 --bytes 0", "0 B"),
        ("map --pattern ring:8 --topology torus:8 --bytes 1e308B", "too large"),
        ("map --pattern hyper:8 --topology torus:8", "unknown pattern 'hyper'"),
        ("map --pattern jacobi:0x4 --topology torus:4x4", "'0x4' has a direction without ranks"),
        ("map --pattern ring:8 --topology torus:8 --mapping /nowhere", "does not exist"),
    ],
    "predict": [
        ("bcast", "--ranks"),
        ("bcast --ranks 0", "at least 1"),
        ("bcast --ranks 8", "orfeo_thin"),
        ("bcast --ranks 8 --algorithm binomal --machine orfeo_thin", "binomial"),
        ("bcast --ranks 8 --algorithm tuned:fast --machine orfeo_thin", "tuned:fast"),
        ("allreduce --ranks 8 --algorithm tuned:basic_linear --machine orfeo_thin", "no one"),
        ("bcast --ranks 8 --mapping core", "--system"),
        ("bcast --ranks 8 --system nowhere", "nowhere"),
        ("bcast --ranks 100000000 --system orfeo-epyc --mapping core", "a place each"),
        ("bcast --ranks 100000000 --table absent.csv", "steps that are simulated"),
        ("bcast --ranks 129 --system alaska-ib", "2 of 32 cores with 2 hardware threads"),
        ("bcast --ranks 8 --machine absent.json", "absent.json"),
        ("bcast --ranks 8 --table absent.csv", "absent.csv"),
        ("allgather --ranks 7 --algorithm neighbor_exchange --machine orfeo_thin", "even"),
        ("pingpong", "--bytes"),
    ],
    "predict datatype --machine ci_2core": [
        ("", "datatype needs a --layout"),
        ("--layout vector", "'vector' is no layout"),
        ("--layout vector:24B/100B", "--layout says no number of blocks"),
        ("--layout vector:1000x24B/8B", "would overlap"),
        ("--layout vector:1000x24B/far", "'far' is not a size"),
        ("--layout vector:1000x24B/1e300B", "too large for a size"),
        ("--layout spiral:1000x24B/100B", "unknown layout 'spiral'"),
        ("--layout x", "'' is not a block"),
        ("--layout x:4x4", "'4x4' is not a block"),
        ("--layout x:4x0x4", "'4x0x4' has a direction without elements"),
        ("--layout x:²x4x4", "is not a block"),
        (f"--layout x:{'9' * 5000}x4x4", "at most 1000000000000000 elements"),
        ("--layout x:9999999x9999999x9999999", "the layout spans"),
        ("--layout x:4x4x4/0", "an element of 0 B"),
        (f"{LAYOUT} --locality network", "datatypes was not measured with locality 'network'"),
        (f"{LAYOUT} --where mpi=MPICH", "datatypes was not measured with mpi 'MPICH'"),
        (f"{LAYOUT} --where mpi", "not a condition"),
    ],
    "predict pingpong --machine version1.json": [
        ("--bytes -8", "'-8' is not a size", "64KiB"),
        ("--bytes 64KB", "'64KB' is not a size", "KiB 1024"),
        ("--bytes 8 --where window", "'window' is not a condition", "--where"),
    ],
    "predict pingpong --bytes 16KiB --machine bluegene_p": [
        ("--congestion 0.5", "is no congestion"),
        ("--layout vector:3B/8B", "no whole blocks"),
    ],
    "measure -o c --ranks 2 --operation bcast": [
        ("--root 9", "root 9 is none of 2 ranks"),
        ("--rank-counts 3", "rank count of 3"),
        ("--segment 0", "segment of 0 B"),
        ("--root first", "not a whole number"),
        ("--root ²", "not a whole number"),
        ("--root 99999999999", "not a whole number"),
    ],
    "fit": [
        ("heat.c", "heat.c is not a tidy table: its first line names no column", "`hockney import`"),
        ("cut.csv", "cut.csv is damaged: line 3 has 14 values, its first line 12"),
    ],
    "predict fft --machine orfeo_thin --size 64 --ranks 8": [
        ("--algorithm pairwize", "unknown algorithm of alltoall", "did you mean 'pairwise'"),
    ],
    "report heat.c": [("-o page.html", "heat.c is not a tidy table")],
    "tune times.csv --for hockney": [
        ("-o no/such/rules.conf", "there is no folder no/such", "`mkdir -p no/such`"),
    ],
    "diff version1.json": [("nothing.json", "there is no machine file nothing.json")],
    "measure -o c --ranks 4": [
        ("--operation overlap --rank-counts 2", "means nothing for overlap"),
        ("--operation subsets --root 1", "means nothing for subsets"),
        ("--operation subsets --rank-counts 3", "4 ranks are not two subsets or more of 3"),
        ("--operation pingpong,subsets --rank-counts 3,4", "two subsets or more of 3; 4 ranks"),
        ("--operation subsets --ranks 3", "3 ranks have no equal subsets"),
    ],
}
"""By the beginning of the command: what follows it, and what the refusal says."""


@pytest.mark.parametrize(
    ("command", "said"), [(f"{begun} {words}", said) for begun, rows in REFUSED.items() for words, *said in rows]
)
def test_a_wrong_request_is_refused_and_leaves_nothing(
    command: str, said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(VERSION_1, tmp_path)
    Path("times.csv").write_text("ranks,time_s\n1,8\n2,5\n4,3.5\n8,2.75\n", encoding="utf-8")
    Path("heat.c").write_text("int main(void) {\n    int a, b, c;\n}\n", encoding="utf-8")
    Path("cut.csv").write_text(f"{','.join(HEADER)}\n{',' * 11}\n{',' * 13}\n", encoding="utf-8")
    Path("b.goal").write_text("num_ranks 1 rank 0 { calc 500 }", encoding="utf-8")
    there = set(tmp_path.iterdir())
    answer = refusal(*shlex.split(command))
    assert all(text in answer for text in said), answer
    assert set(tmp_path.iterdir()) == there

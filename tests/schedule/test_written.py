"""Schedules that a user wrote: they are what the catalogue's are, and what is wrong is said with its place."""

from __future__ import annotations

import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from tests.command_line import run_hockney
from tests.factories import refusing
from tests.schedule.test_proof import COLLECTIVES

from hockney import _core
from hockney.campaign.plan import Plan
from hockney.errors import RequestError
from hockney.predict.costs import LoggopsParameters
from hockney.predict.simulation import simulate
from hockney.schedule import written
from hockney.schedule.catalogue import ask, find, signature
from hockney.schedule.proof import cases, complaints, prove
from hockney.schedule.words import counts

RING = (Path(__file__).parents[2] / "examples" / "ring.schedule").read_text()
TEXTS = {
    ("allreduce", "ring"): """
right = (r + 1) % P
left = (r - 1) % P
size = len(output[0])
buffers = scratch(2 * size)
copy(input, output)
ahead = nothing
for s in range(P):
    # The next receive is posted before what has arrived is added.
    arrived = ahead
    if s < P - 1:
        ahead = receive(part(buffers, s % 2 * size, len(output[(r - s - 1) % P])), left)
    if s > 0:
        take = (r - s) % P
        send(output[(r - s + 1) % P], right)
        reduce(part(buffers, (s - 1) % 2 * size, len(output[take])), output[take], after=arrived)
for s in range(P - 1):
    receive(output[(r - s) % P], left)
    send(output[(r - s + 1) % P], right)
""",
    ("allreduce", "recursive_doubling"): """
nodes = 2 ** log2(P)
extra = P - nodes
paired = r < 2 * extra
if paired and r % 2 == 0:
    sent = send(input, r + 1)
    receive(output, r + 1, after=sent)
else:
    other = scratch(n)
    here = 0
    copy(input, output)
    if paired:
        receive(other, r - 1)
        reduce(other, output)
    node = r // 2 if paired else r - extra
    for k in range(log2(P)):
        peer = node ^ 2**k
        partner = 2 * peer + 1 if peer < extra else peer + extra
        wait()
        receive(other if here == 0 else output, partner)
        send(output if here == 0 else other, partner)
        wait()
        if (partner > r) == (here == 0):
            reduce(output, other)
            here = 1
        else:
            reduce(other, output)
            here = 0
    if here:
        copy(other, output)
    if paired:
        send(output, r - 1)
""",
    ("bcast", "binomial"): """
v = (r - root) % P
first = 0 if v == 0 else log2(v) + 1
if v > 0:
    receive(output, (r - 2 ** log2(v)) % P)
for k in range(first, log2(P) + 1):
    if v + 2**k < P:
        send(output, (r + 2**k) % P)
""",
    ("allgather", "bruck"): """
have = scratch(P * n)
last = copy(input, have[0])
for k in range(log2(P - 1) + 1 if P > 1 else 0):
    count = min(2**k, P - 2**k)
    before = last
    last = receive(have[2**k:2**k + count], (r + 2**k) % P)
    send(have[:count], (r - 2**k) % P, after=before)
copy(have[:P - r], output[r:], after=last)
copy(have[P - r:], output[:r], after=last)
""",
    ("alltoall", "pairwise"): """
copy(input[r], output[r])
got = nothing
sent = nothing
for s in range(1, P):
    before = got
    got = receive(output[(r - s) % P], (r - s) % P, after=(got, sent))
    sent = send(input[(r + s) % P], (r + s) % P, after=(before, sent))
""",
    ("barrier", "dissemination"): """
heard = nothing
for k in range(log2(P - 1) + 1 if P > 1 else 0):
    send(nothing, (r + 2**k) % P, after=heard)
    heard = receive(nothing, (r - 2**k) % P, after=heard)
""",
}
NUMBER = count()
RANKS = [*range(1, 18), 23, 31, 32, 33, 48]


def defined(folder: Path, collective: str, name: str, text: str) -> str:
    """The path of a file of this text, known to the core."""
    file = folder / f"{collective}_{name}_{next(NUMBER)}.schedule"
    file.write_text(text)
    find(collective, str(file))
    return str(file)


@pytest.mark.parametrize(("collective", "name"), TEXTS, ids=map("-".join, TEXTS))
def test_the_same_counts_as_the_catalogue(collective: str, name: str, tmp_path: Path) -> None:
    path = defined(tmp_path, collective, name, TEXTS[collective, name])
    for ranks in RANKS:
        sizes = [0] if collective == "barrier" else [4, 4 * ranks + 12, 4096]
        for size_B in sizes:
            for root in {0, ranks - 1} if COLLECTIVES[collective].rooted else {0}:
                mine, ours = (
                    _core.count(ask(collective, each, ranks=ranks, size_B=size_B, root=root).generate())
                    for each in (path, name)
                )
                for what in (key for key in dir(ours) if not key.startswith("_")):
                    assert getattr(mine, what) == getattr(ours, what), (ranks, size_B, root, what)


@pytest.mark.parametrize(("collective", "name"), TEXTS, ids=map("-".join, TEXTS))
def test_every_case_is_proved(collective: str, name: str, tmp_path: Path) -> None:
    path = defined(tmp_path, collective, name, TEXTS[collective, name])
    algorithm = find(collective, path)
    for ranks in range(1, 14):
        for problem in cases(algorithm, ranks):
            assert complaints(algorithm, problem) == [], (ranks, problem.root, problem.bytes)


@pytest.mark.parametrize("rendezvous_B", [None, 64])
@pytest.mark.parametrize(("collective", "name"), TEXTS, ids=map("-".join, TEXTS))
def test_the_same_times_as_the_catalogue(
    collective: str, name: str, rendezvous_B: int | None, tmp_path: Path
) -> None:
    """Where messages, sums and copies cost, with a handshake from some size on or without; of every rank."""
    path = defined(tmp_path, collective, name, TEXTS[collective, name])
    costs = LoggopsParameters(
        1e-6, 2e-7, 3e-7, 1e-10, receive_overhead_s=5e-7, reduce_s_per_B=2e-10, rendezvous_above_B=rendezvous_B
    )
    for ranks in RANKS:
        for size_B in [0] if collective == "barrier" else [4, 4 * ranks + 12, 40960]:
            root = ranks - 1 if COLLECTIVES[collective].rooted else 0
            mine, ours = (
                simulate(ask(collective, each, ranks=ranks, size_B=size_B, root=root), costs, by_class=False)
                for each in (path, name)
            )
            assert mine.finish_s.tolist() == pytest.approx(ours.finish_s.tolist(), rel=1e-12), (ranks, size_B)


def test_the_ring_of_the_examples(tmp_path: Path) -> None:
    path = defined(tmp_path, "allreduce", "example", RING)
    for problem in cases(find("allreduce", path), 7):
        assert complaints(find("allreduce", path), problem) == []
    counted = _core.count(ask("allreduce", path, ranks=6, size_B=6 * 400).generate())
    # 2 (P − 1) rounds in which each rank sends a block.
    assert (counted.rounds, counted.messages, counted.critical_bytes) == (10, 60, 10 * 400)


WRONG = [
    # (collective, text, what is said of 4 ranks)
    ("allreduce", RING.replace("range(P - 1)", "range(P - 2)", 1), "is missing"),
    ("allreduce", RING.replace("reduce(block, output[take])", "pass"), "is missing"),
    (
        "allreduce",
        RING.replace(
            "reduce(block, output[take])", "reduce(block, output[take])\n    reduce(block, output[take])"
        ),
        "rank 2, line 15, step 4: the contribution of rank 1 is added twice to byte 16 of output (block 1)",
    ),
    ("allreduce", "if r > 0:\n    send(input, 0)", "rank 1, line 2, step 0: deadlock: rank 0 never receives"),
    (
        "allreduce",
        "copy(input, output)\nif r == 0:\n    receive(output, 1)",
        "line 3, step 1: deadlock: rank 1 never",
    ),
    (
        "allreduce",
        "send(input, (r + 1) % P)\nwait()\nreceive(output, (r - 1) % P)",
        "rank 0, line 1, step 0: deadlock: rank 1 never receives",
    ),
    (
        "allgather",
        "send(output[r], (r + 1) % P)\nreceive(output[r - 1 if r else P - 1], (r - 1) % P)",
        "holds nothing",
    ),
    ("bcast", "if r == root:\n    send(output, (r + 1) % P)", "deadlock"),
    ("bcast", "pass", "it holds nothing"),
    ("alltoall", "copy(input, output)", "byte 64 of output (block 1): it holds byte 64 of inputs, not byte 0"),
    ("barrier", "send(nothing, (r + 1) % P)\nreceive(nothing, (r - 1) % P)", "without having heard of rank"),
]


@pytest.mark.parametrize(("collective", "text", "said"), WRONG)
def test_what_is_wrong_is_named(collective: str, text: str, said: str, tmp_path: Path) -> None:
    path = defined(tmp_path, collective, "wrong", text)
    request = ask(collective, path, ranks=4, size_B=0 if collective == "barrier" else 64)
    found = _core.verify(collective, request.problem, request.generate())
    assert any(said in one for one in found), found


AT_RUN = [
    ("send(output[P], 0)", "line 1: blocks 4 to 5 are not within the 4 that there are (rank 0 of 4, 64 B)"),
    ("copy(input, output)\nsend(output, r)", "line 2: a rank sends itself nothing: copy() does"),
    ("copy(input, output)\nx = P // (r - r)", "line 2: a division by zero"),
    ("copy(input, output)\ncopy(input[0], output)", "line 2: 16 B into 64 B"),
    ("copy(input, output)\ncopy(output, input)", "line 2: the input must not be written"),
    ("copy(input, output)\nx = log2(r - 9)", "line 2: log2 of -9"),
    ("copy(input, output)\nx = 3 ** 62", "line 2: a number beyond 2^63"),
    ("copy(input, output)\nx = 1 << 63", "line 2: an exponent or a shift must be 0 to 62, not 63"),
    ("copy(input, output)\nif P > 9:\n    x = 1\ny = x", "line 4: a name is used that has no value yet"),
    ("copy(input, output)\ncopy(part(input, 60, 8), part(output, 0, 8))", "line 2: 8 bytes from byte 60 on"),
    ("copy(input, output)\nfor i in range(0, 4, 0):\n    pass", "line 2: a loop by steps of 0"),
    ("copy(input, output)\nfor i in range(2**40):\n    pass", "more than 2^26 operations of a rank"),
    ("copy(input, output)\nsend(output, P)", "line 2: there is no rank 4"),
    ("copy(input, output)\nx = scratch(2**50)", "line 2: memory of 1125899906842624 B: 0 to"),
]


@pytest.mark.parametrize(("text", "said"), AT_RUN)
def test_what_cannot_be_done_is_refused_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    path = defined(tmp_path, "allreduce", "cannot", text)
    with pytest.raises((RequestError, _core.TooLarge)) as raised:
        ask("allreduce", path, ranks=4, size_B=64).generate()
    assert said in str(raised.value)


@pytest.mark.thorough
def test_the_operations_of_all_ranks_together_are_limited(tmp_path: Path) -> None:
    """Each of 64 ranks alone stays below the 2^30: a pass of the loop is at least four operations."""
    path = defined(tmp_path, "allreduce", "long", "copy(input, output)\nfor i in range(2**23):\n    x = i")
    assert ask("allreduce", path, ranks=1, size_B=64).generate()
    with pytest.raises(RequestError, match=r"line [23]: more than 2\^26 operations of a rank, or 2\^30 of all"):
        ask("allreduce", path, ranks=64, size_B=64).generate()


GROWTH = """
from resource import RUSAGE_SELF, getrusage
from hockney import _core
from hockney.schedule import written
_core.define("allreduce", "pieces", written.compiled({!r}, ""))
before = getrusage(RUSAGE_SELF).ru_maxrss
_core.generate_rank("allreduce", "pieces", _core.Problem(ranks=2, bytes=8192), 0)
print(getrusage(RUSAGE_SELF).ru_maxrss - before)
"""


def test_many_readers_of_many_pieces_take_little_memory() -> None:
    """With a list of 8192 readers for each of 8192 pieces it would be 256 MiB of numbers."""
    text = "blocks = 8192\nfor k in range(blocks):\n    send(input, 1 - r)\n"
    program = GROWTH.format(f"{text}for k in range(blocks):\n    copy(input[k], output[k])")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 64 * 1024


def test_a_mistake_is_a_complaint_of_its_case_and_what_is_required_is_none(tmp_path: Path) -> None:
    """A division by zero before the first step, on rank 0 or another, is no refusal."""
    for rank in (0, 2):
        path = defined(tmp_path, "barrier", "divides", f"x = 1 // (P + r - 3 - {rank})")
        (result,) = prove([find("barrier", path)], [3], lambda _: None)
        assert f"line 1: a division by zero (rank {rank} of 3, 0 B)" in result.complaints[0]
        with pytest.raises(RequestError, match=f"rank {rank} of 3") as raised:
            ask("barrier", path, ranks=3).generate()
        assert raised.value.hint == written.HINT
    path = defined(tmp_path, "barrier", "requires", "require(P < 3)")
    (result,) = prove([find("barrier", path)], [3], lambda _: None)
    assert (result.refused > 0, result.proved, result.complaints) == (True, 0, [])


def test_what_waits_for_ever_is_no_defect_of_ours(tmp_path: Path) -> None:
    path = defined(tmp_path, "barrier", "stuck", "receive(nothing, (r + 1) % P)")
    request = ask("barrier", path, ranks=3)
    for play in (
        lambda: simulate(request, LoggopsParameters(1e-6, 0, 0, 0), by_class=False),
        lambda: counts(request),
    ):
        with refusing("a rank waits for ever", "hockney schedule verify"):
            play()


def test_a_wrong_schedule_is_no_candidate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It sends half of what it should, and would be the fastest."""
    monkeypatch.chdir(tmp_path)
    path = defined(tmp_path, "bcast", "half", "if r == root and P > 1:\n    send(output, (r + 1) % P)")
    words = ["bcast", "--algorithm", path, "--ranks", "4", "--bytes", "8"]
    done = run_hockney("predict", *words, "--machine", "orfeo_thin")
    assert (done.returncode, "is no bcast: 2 ranks" in " ".join(done.stderr.split())) == (2, True)
    done = run_hockney("simulate", *words, "--loggops", "L=1us")
    assert (done.returncode, "times of what is wrong" in done.stderr) == (0, True)
    done = run_hockney("schedule", "verify", "bcast", "--algorithm", path, "--ranks", "1-4")
    assert (done.returncode, "wrong: 1 of 1 algorithm" in done.stderr) == (1, True)


def test_a_plan_keeps_the_text_of_a_file_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, text in (("a", "x = 1"), ("b", "x = 2")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "kept.schedule").write_text(text)
    plan = Plan(operations=["allreduce"], ranks=2, algorithms=[str(tmp_path / "a" / "kept.schedule"), "ring"])
    assert (plan.algorithms, plan.schedules) == (["kept.schedule", "ring"], {"kept.schedule": "x = 1"})
    for where in (tmp_path, tmp_path / "b"):
        monkeypatch.chdir(where)
        assert Plan.model_validate(plan.model_dump()) == plan
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RequestError, match="two different schedules have the name"):
        Plan(operations=["allreduce"], ranks=2, algorithms=["a/kept.schedule", "b/kept.schedule"])


def test_a_file_stands_in_no_catalogue(tmp_path: Path) -> None:
    name = find("bcast", defined(tmp_path, "bcast", "listed", "pass")).name
    assert name not in [one.name for one in _core.algorithms()]
    with pytest.raises(RequestError) as raised:
        find("bcast", "binomia")
    assert name not in raised.value.hint


def test_a_text_says_what_it_needs(tmp_path: Path) -> None:
    path = defined(tmp_path, "barrier", "needs", "require(P % 2 == 0)\nif r ^ 1 < P:\n    pass")
    assert ask("barrier", path, ranks=4).generate()
    with pytest.raises(RequestError, match="line 1: what this line requires does not hold"):
        ask("barrier", path, ranks=5)


def test_two_files_of_one_name(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "two.schedule").write_text(f"x = {folder == 'a':d}\n")
    assert find("bcast", str(tmp_path / "a" / "two.schedule")).name == "two.schedule"
    with pytest.raises(RequestError, match="different schedules of one name"):
        find("bcast", str(tmp_path / "b" / "two.schedule"))
    # A file that is changed is read again.
    (tmp_path / "a" / "two.schedule").write_text("copy(input, output)\n")
    request = ask("allreduce", str(tmp_path / "a" / "two.schedule"), ranks=2, size_B=8)
    assert len(request.generate()[0].steps) == 1
    # What a campaign names is no file.
    assert signature("allreduce", "two.schedule", ranks=2, size_B=8) is None
    with pytest.raises(RequestError, match="does not exist"):
        find("bcast", str(tmp_path / "none.schedule"))
    (tmp_path / "circle.schedule").symlink_to("circle.schedule")
    with pytest.raises(RequestError, match=r"cannot read .*circle\.schedule: Too many levels"):
        find("bcast", str(tmp_path / "circle.schedule"))

"""Every cell of a tuning looked up in the file that was written, as its library does it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.models.over_ranks.choice import Time
from hockney.records.keys import COLLECTIVES
from hockney.tune.cells import CallTimes
from hockney.tune.rules import Method
from hockney.tune.targets import _mpich as mpich
from hockney.tune.targets.base import Reader, targets
from hockney.tune.tuned import tuned

RANKS, SIZES_B = (2, 3, 4, 5, 7), (8, 64, 512, 4096)
OPENMPI = ("linear", "pairwise", "modified_bruck")
MPICH = ("mpir:brucks", "mpir:pairwise", "mpir:scattered")
ALGORITHMS = {
    ("openmpi", "bcast"): [
        *(Method("tuned:chain", 0, fanout) for fanout in (0, 1, 4)),
        Method("tuned:knomial", 1024),
    ],
    ("openmpi", "alltoall"): [Method(f"tuned:{name}") for name in OPENMPI],
    ("mpich", "bcast"): [
        *(Method("mpir:tree", 0, radix) for radix in (0, 2, 3)),
        Method("mpir:binomial"),
    ],
    ("mpich", "alltoall"): [Method(name) for name in MPICH],
    ("mpich", "allgather"): [Method("mpir:ring"), Method("mpir:brucks")],
}
SELECTION: dict[str, dict[str, Any]] = {
    f"collective={name}": {"comm_type=intra": {"algorithm=own": {}}, "comm_type=inter": {"algorithm=own": {}}}
    for name in COLLECTIVES
}
Text = str
LookUp = Callable[[Text, str, int, int], tuple[str, int, int] | None]
"""(file, operation, ranks, bytes of all ranks together or of one call) → name, segment, radix; None: its own."""


def numbers(text: str, operation: str, ranks: int, total_B: int) -> tuple[str, int, int] | None:
    """`ompi_coll_tuned_get_target_method_params`: the last that is not above, ranks first, then bytes."""
    ids = {"bcast": 7, "alltoall": 3}
    names = {
        "bcast": ("basic_linear", "chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial"),
        "alltoall": OPENMPI,
    }
    lines = [line.partition("#")[0].split() for line in text.splitlines()]
    words = [int(word) for line in lines for word in line if word != "rule-file-version-2"]
    width = 5 if text.startswith("rule-file-version-2") else 4
    taken = None
    at = 1
    for _ in range(words[0]):
        identity, counts = words[at : at + 2]
        at += 2
        for _ in range(counts):
            least, sizes = words[at : at + 2]
            entries = [words[at + 2 + width * one :][:4] for one in range(sizes)]
            at += 2 + width * sizes
            if identity == ids[operation] and least <= ranks:
                taken = [entry for entry in entries if entry[0] <= total_B][-1]
    if taken is None or taken[1] == 0:
        return None
    return f"tuned:{names[operation][taken[1] - 1]}", taken[3], taken[2]


def version_3(text: str, operation: str, ranks: int, total_B: int) -> tuple[str, int, int] | None:
    """The first entry that has the ranks, and in it the first rule that has the bytes."""

    def has(one: Mapping[str, Any], name: str, value: int) -> bool:
        most = one[f"{name}_max"]
        return bool(one[f"{name}_min"] <= value and (most == "inf" or value <= most))

    entries = json.loads(text)["collectives"].get(operation, [])
    entry = next((one for one in entries if has(one, "comm_size", ranks)), None)
    rule = next((one for one in entry["rules"] if has(one, "msg_size", total_B)), None) if entry else None
    return (f"tuned:{rule['alg']}", rule["seg_size"], rule["faninout"]) if rule else None


def selection(text: str, operation: str, ranks: int, total_B: int) -> tuple[str, int, int] | None:
    """Down the tree, each time by the first branch that fits; a call that an algorithm can do."""
    values = {"comm_size": ranks, "avg_msg_size": total_B, "total_msg_size": total_B}
    flags = {"count<pow2": False, "is_op_built_in=no": False, "is_commutative=no": False}
    flags["is_sendbuf_inplace=yes"] = False
    tree = json.loads(text)[f"collective={operation}"]["comm_type=intra"]
    while not next(iter(tree)).startswith("algorithm="):
        for key, below in tree.items():
            name, _, bound = key.partition("<=")
            if values[name] <= int(bound) if bound else flags.get(key, True):
                tree = below
                break
        else:
            raise AssertionError("MPICH aborts: no branch fits")
    name = next(iter(tree))
    if name == "algorithm=own":
        return None
    given_ = dict(key.split("=") for key in tree[name])
    return f"mpir:{name.partition('_intra_')[2]}", 0, int(given_.get("k", 0))


BUILT_IN: dict[str, Any] = {
    "comm_size<8": {"algorithm=few": {}},
    "avg_msg_size<=100": {"comm_size<8": {"algorithm=few_small": {}}, "comm_size=any": {"algorithm=small": {}}},
    "avg_msg_size=any": {"comm_size<8": {"algorithm=few_large": {}}, "comm_size=any": {"algorithm=large": {}}},
}
"""As MPICH's own: branches of ranks before those of calls and behind them, where it takes < for <=."""


def mpich_takes(tree: Mapping[str, Any], ranks: int, size_B: int) -> str:
    """MPIR_Csel_prune, which stops at the first branch for calls, then MPIR_Csel_search from there."""
    pruning = True
    while not (name := next(iter(tree))).startswith("algorithm="):
        for key, below in tree.items():
            pruning = pruning and not key.startswith("avg_msg_size<=")
            name, least, bound = key.partition("<=") if "<=" in key else key.partition("<")
            value = size_B if name == "avg_msg_size" else ranks
            if not least or value < int(bound) or (value == int(bound) and (least == "<=" or not pruning)):
                tree = below
                break
    return name


@pytest.mark.parametrize("ranks", [6, 7, 8, 9])
@pytest.mark.parametrize("size_B", [10, 1000])
def test_below_a_rules_sizes_the_selection_means_what_it_meant(ranks: int, size_B: int) -> None:
    own = mpich.unmoved(BUILT_IN)
    moved = {"avg_msg_size<=5": {"algorithm=rule": {}}, "avg_msg_size=any": own}
    expected = mpich_takes(BUILT_IN, ranks, size_B)
    assert mpich_takes(own, ranks, size_B) == expected
    assert mpich_takes(moved, ranks, size_B) == expected
    assert mpich.unmoved(own) == own


def test_the_selection_of_a_library_is_unmoved(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir()
    wrapper = tmp_path / "bin" / "mpicc"
    wrapper.touch()
    branches: dict[str, Any] = {
        "comm_size<8": {"algorithm=MPIR_Bcast_intra_binomial": {}},
        "comm_size=any": {"algorithm=x": {}},
    }
    held = json.dumps({"collective=bcast": {"comm_type=intra": branches}}, separators=(",", ":"))
    (tmp_path / "lib" / "libmpi.so.12").write_bytes(b"\x7fELF\0" + held.encode() + b"\0")
    found = mpich.built_in(Reader("MPICH 5.0.2", (5, 0, 2), wrapper))
    assert list(found["collective=bcast"]["comm_type=intra"]) == ["comm_size<=7", "comm_size=any"]


FORMS: dict[str, tuple[str, Reader, LookUp]] = {
    "openmpi_classic": ("openmpi", Reader("Open MPI 5.0.11", (5, 0, 11)), numbers),
    "openmpi_v2": ("openmpi", Reader("Open MPI 5.0.11", (5, 0, 11)), numbers),
    "openmpi_json": ("openmpi", Reader("Open MPI 6.0.0", (6, 0, 0)), version_3),
    "mpich_json": ("mpich", Reader("MPICH 5.0.2", (5, 0, 2)), selection),
}
CASES = [(form, kind[1]) for form, (family, _, _) in FORMS.items() for kind in ALGORITHMS if kind[0] == family]


@pytest.mark.parametrize(("form", "operation"), CASES)
@given(data=st.data())
def test_every_cell_is_found_as_it_was_chosen(form: str, operation: str, data: st.DataObject) -> None:
    family, library, look_up = FORMS[form]
    known = ALGORITHMS[family, operation]
    cells = []
    for ranks in RANKS:
        for size_B in SIZES_B:
            fastest = data.draw(st.sampled_from([None, *known]))
            # The default takes 2 s, the fastest 1 s, the others 3 s, each surely to 1 %.
            others = {one: _time(1.0 if one == fastest else 3.0) for one in known}
            cells.append(CallTimes(operation, ranks, size_B, _time(2.0), others))
    target = targets.get(form)
    with patch.object(mpich, "built_in", lambda _: json.loads(json.dumps(SELECTION))):
        done = tuned(target, library, cells, Path("planted"))
        text = done.checked()
    blocks = COLLECTIVES[operation].sizes_are_blocks and (family, operation) != ("mpich", "alltoall")
    assert len(done.choice.decisions) == len(cells)
    for one in done.choice.decisions:
        cell = one.cell
        found = look_up(text, operation, cell.ranks, cell.bytes * (cell.ranks if blocks else 1))
        expected = None if one.algorithm is None else _completed(one.algorithm)
        assert found == expected, cell


def _time(seconds: float) -> Time:
    return Time(seconds, seconds * 0.99, seconds * 1.01)


def _completed(one: Method) -> tuple[str, int, int]:
    """With the usual number of chains, and the usual radix of a tree."""
    usual = {"tuned:chain": 4, "mpir:tree": 2}.get(one.algorithm, 0)
    return one.algorithm, one.segment_bytes, one.radix or usual


def test_a_file_that_says_something_else_of_a_cell_is_never_written() -> None:
    _, library, _ = FORMS["openmpi_v2"]
    one, other = ALGORITHMS["openmpi", "alltoall"][:2]
    cells = [CallTimes("alltoall", 4, 8, _time(2.0), {one: _time(1.0), other: _time(3.0)})]
    done = tuned(targets.get("openmpi_v2"), library, cells, Path("planted"))
    wrong = replace(done, rules=[replace(done.rules[0], **other._asdict())])
    with pytest.raises(AssertionError, match=r"say tuned:pairwise of .*, not tuned:linear"):
        wrong.checked()

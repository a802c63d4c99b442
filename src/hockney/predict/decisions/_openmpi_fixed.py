"""Open MPI's fixed decisions from 4.1.0 on, as tables: which algorithm for how many ranks and bytes.

Read in ompi/mca/coll/tuned/coll_tuned_decision_fixed.c of 4.1.5, which is the same file from 4.1.0 to 5.0.10;
commutative operators. A line is one range of ranks, `a<512 b` says: a below 512 bytes, b from there on. Bytes
are the whole vector for bcast, reduce, allreduce and reduce_scatter, one rank's block for the others. Names are
those of the MPI_T enumerations.
"""

from __future__ import annotations

import re

_TEXT = {
    "barrier": """
        <4: recursive_doubling
        <8: linear
        <64: recursive_doubling
        <256: bruck
        <512: tree
        <1024: bruck
        <4096: tree
        else: bruck
    """,
    "bcast": """
        <4: pipeline<32 binary_tree<256 pipeline<512 knomial<1024 basic_linear<32768 binary_tree<131072
            chain<262144 basic_linear<524288 binomial<1048576 binary_tree
        <8: binary_tree<64 binomial<128 binary_tree<2048 binomial<8192 basic_linear<1048576 chain
        <16: knomial<8 binary_tree<64 knomial<4096 binary_tree<16384 binomial<32768 basic_linear
        <32: knomial<4096 binomial<1048576 scatter_allgather
        <64: binomial<2048 knomial
        <128: knomial
        <256: binomial<2 binary_tree<16384 basic_linear<32768 binary_tree<65536 knomial
        <1024: knomial<16384 split_binary_tree<32768 knomial
        <2048: knomial<524288 scatter_allgather
        <4096: knomial<262144 scatter_allgather
        else: knomial<8192 binary_tree<16384 knomial<262144 scatter_allgather
    """,
    "reduce": """
        <4: rabenseifner<8 binary<16 pipeline<32 linear<262144 pipeline<524288 chain<1048576 pipeline
        <8: binary<4096 chain<65536 binomial<262144 linear<524288 binomial<1048576 linear
        <16: binary<8192 binomial
        <32: binary<4096 binomial
        <256: binomial
        <512: binomial<8192 in_order_binary<16384 binomial
        <2048: binomial
        <4096: binomial<512 in_order_binary<1024 binomial<8192 in_order_binary<16384 binomial
        else: binomial<16 in_order_binary<32 binomial<1024 in_order_binary<2048 binomial<8192
            in_order_binary<16384 binomial
    """,
    "allreduce": """
        <4: ring<8 recursive_doubling<4096 ring<8192 recursive_doubling<16384 ring<65536
            segmented_ring<262144 rabenseifner
        <8: ring<16 recursive_doubling<8192 rabenseifner
        <16: recursive_doubling<8192 rabenseifner
        <32: segmented_ring<64 recursive_doubling<4096 rabenseifner
        <64: segmented_ring<128 rabenseifner
        <128: recursive_doubling<262144 rabenseifner
        <256: nonoverlapping<131072 recursive_doubling<262144 rabenseifner
        <512: nonoverlapping<4096 rabenseifner
        <2048: nonoverlapping<2048 recursive_doubling<16384 rabenseifner
        <4096: nonoverlapping<2048 segmented_ring<4096 recursive_doubling<16384 rabenseifner
        else: nonoverlapping<2048 segmented_ring<16384 recursive_doubling<32768 rabenseifner
    """,
    "allgather": """
        <3: two_proc
        <32: recursive_doubling
        <64: recursive_doubling<1024 neighbor<65536 ring
        <128: recursive_doubling<512 neighbor<65536 ring
        <256: recursive_doubling<512 neighbor<131072 ring<524288 neighbor<1048576 ring
        <512: recursive_doubling<32 bruck<128 recursive_doubling<1024 neighbor<131072 ring<524288
            neighbor<1048576 ring
        <1024: recursive_doubling<64 bruck<256 recursive_doubling<2048 neighbor
        <2048: recursive_doubling<4 bruck<8 recursive_doubling<16 bruck<32 recursive_doubling<256 bruck<512
            recursive_doubling<4096 neighbor
        <4096: bruck<32 recursive_doubling<128 bruck<512 recursive_doubling<4096 neighbor
        else: recursive_doubling<2 bruck<8 recursive_doubling<16 bruck<512 recursive_doubling<4096 neighbor
    """,
    "alltoall": """
        <3: pairwise<2 two_proc<4 pairwise<16 two_proc<64 pairwise<256 two_proc<4096 pairwise<32768
            linear_sync<262144 two_proc<1048576 pairwise
        <8: linear_sync<8192 linear<16384 linear_sync<65536 linear<524288 pairwise<1048576 linear
        <16: linear_sync<262144 linear
        <32: linear_sync<4 modified_bruck<512 linear_sync<8192 linear<32768 linear_sync<262144 linear<524288
            linear_sync
        <64: modified_bruck<512 linear<524288 linear_sync
        <128: modified_bruck<1024 linear<2048 linear_sync<4096 linear<262144 pairwise
        <256: modified_bruck<1024 linear_sync<2048 linear<262144 pairwise
        <512: modified_bruck<1024 linear_sync<8192 linear<32768 pairwise
        <1024: modified_bruck<512 linear_sync<8192 linear<16384 linear_sync<131072 linear<262144 pairwise
        <2048: modified_bruck<512 linear_sync<1024 linear<2048 linear_sync<16384 linear<262144 linear_sync
        <4096: modified_bruck<1024 linear_sync<4096 linear<8192 linear_sync<131072 linear
        else: modified_bruck<2048 linear_sync<8192 linear<16384 linear_sync<32768 linear<65536 linear_sync
    """,
    "gather": """
        <4: linear_sync<2 basic_linear<4 binomial<32768 basic_linear<65536 binomial<131072 linear_sync
        <8: binomial<1024 basic_linear<8192 binomial<32768 basic_linear<262144 linear_sync
        <256: binomial
        <512: binomial<2048 basic_linear<8192 binomial
        else: binomial
    """,
    "scatter": """
        <4: linear_nb<2 basic_linear<131072 linear_nb<262144 basic_linear
        <8: binomial<2048 basic_linear<4096 binomial<8192 basic_linear<32768 linear_nb<1048576 basic_linear
        <16: binomial<16384 linear_nb<1048576 basic_linear
        <32: binomial<16384 basic_linear<32768 linear_nb
        <64: binomial<512 linear_nb<8192 binomial<16384 linear_nb
        else: binomial<512 linear_nb
    """,
    "reduce_scatter": """
        <4: ring<65536 butterfly<131072 ring
        <8: non_overlapping<8 recursive_halving<262144 ring
        <32: recursive_halving<262144 ring
        <64: non_overlapping<64 recursive_halving<2048 butterfly<524288 ring
        <128: non_overlapping<256 recursive_halving<512 butterfly<2048 recursive_halving<4096 butterfly
        <256: non_overlapping<256 recursive_halving<512 butterfly
        <512: non_overlapping<256 recursive_halving<1024 butterfly
        <1024: non_overlapping<512 recursive_halving<2048 butterfly<8192 recursive_halving<16384 butterfly
        <2048: non_overlapping<512 recursive_halving<4096 butterfly<16384 recursive_halving<32768 butterfly
        <4096: non_overlapping<512 recursive_halving<4096 butterfly
        else: non_overlapping<1024 recursive_halving<8192 butterfly
    """,
}

_Row = tuple[float, list[tuple[float, str]]]


def _rows(text: str) -> list[_Row]:
    """(ranks below, [(bytes below, algorithm), …]) of each range of ranks."""
    words = re.split(r"(?:<(\d+)|else):", text)
    return [
        (
            float(below or "inf"),
            [(float(size or "inf"), name) for name, _, size in (word.partition("<") for word in line.split())],
        )
        for below, line in zip(words[1::2], words[2::2], strict=True)
    ]


_TABLES = {operation: _rows(text) for operation, text in _TEXT.items()}


def look_up(operation: str, ranks: int, size_B: int) -> str:
    """The algorithm's name in Open MPI; for at least two ranks."""
    sizes = next(sizes for below, sizes in _TABLES[operation] if ranks < below)
    return next(name for below, name in sizes if size_B < below)

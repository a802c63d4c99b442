"""An effect `datatypes` with known costs, as it stands in a machine file; blocks are counted one by one."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from hockney.machine.file import Cache, Host
from hockney.models.effects.base import Cell, Effect

CACHE_B = {"L1": 2**15, "L2": 2**20, "L3": 2**25}
HOST = Host(
    host="a",
    caches=[
        # Of two cores, and one for instructions, which no data are in.
        *(
            Cache(level=int(name[1]), type="Unified", size_B=size_B, shared=[cpu])
            for name, size_B in CACHE_B.items()
            for cpu in (0, 1)
        ),
        Cache(level=1, type="Instruction", size_B=2**16, shared=[0]),
    ],
)
LAYOUTS = [
    *(("contiguous", 1, size_B, size_B) for size_B in (1024, 16384, 262144)),
    *(("vector", 16384, 1, stride_B) for stride_B in (2, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)),
    *(("vector", 16384 // block_B, block_B, 2 * block_B) for block_B in (8, 64, 256, 1024, 4096)),
    *(("vector", 262144 // block_B, block_B, 2 * block_B) for block_B in (8, 64, 1024)),
    *(("vector", 1024 // block_B, block_B, 2 * block_B) for block_B in (8, 64)),
    ("indexed", 2048, 8, 16),
    ("indexed", 256, 64, 128),
]


@dataclass(frozen=True)
class Truth:
    """Seconds: of the contiguous message α + β·n, and what scattered ones cost more."""

    alpha_s: float = 1e-6
    beta_s_per_B: float = 1e-10
    setup_s: float = 2e-7
    byte_s_per_B: float = 4e-10
    block_s: dict[str, float] = field(default_factory=lambda: {"vector": 2e-9, "indexed": 3e-9})
    line_s: dict[str, float] = field(default_factory=lambda: {"L1": 1e-9, "L2": 3e-9, "L3": 1e-8, "memory": 6e-8})

    def time_s(self, layout: str, blocks: int, block_B: int, stride_B: int) -> float:
        """Of a message from this layout."""
        size_B, lines, extent_B = counted(blocks, block_B, stride_B)
        contiguous_s = self.alpha_s + self.beta_s_per_B * size_B
        if extent_B == size_B:
            return contiguous_s
        beyond = max(0, lines - -(-size_B // 64))
        fixed_s = self.setup_s + self.byte_s_per_B * size_B
        blocks_s = self.block_s[layout] * (blocks - 1)
        return contiguous_s + fixed_s + blocks_s + self.line_s[level(size_B, extent_B)] * beyond


@cache
def counted(blocks: int, block_B: int, stride_B: int) -> tuple[int, int, int]:
    """(bytes, lines of 64 B, extent)."""
    touched: set[int] = set()
    for block in range(blocks):
        start_B = block * stride_B
        touched.update(range(start_B // 64, (start_B + block_B - 1) // 64 + 1))
    return blocks * block_B, len(touched), (blocks - 1) * stride_B + block_B


def level(size_B: int, extent_B: int) -> str:
    """Where the message and its span have room together."""
    return next((name for name, room_B in CACHE_B.items() if size_B + extent_B <= room_B), "memory")


def row(way: str, layout: tuple[str, int, int, int], time_s: float, left_out: float | None) -> dict[str, Cell]:
    """A point of the effect; `left_out`: ln of what was predicted from the others over the time."""
    name, blocks, block_B, stride_B = layout
    size_B, lines, extent_B = counted(blocks, block_B, stride_B)
    return {
        "way": way,
        "layout": name,
        "bytes": size_B,
        "blocks": blocks,
        "block_B": block_B,
        "stride_B": stride_B,
        "lines": lines,
        "extent_B": extent_B,
        "level": level(size_B, extent_B),
        "time_s": time_s,
        "low_s": time_s * 0.99,
        "high_s": time_s * 1.01,
        "left_out_s": None if left_out is None or extent_B == size_B else time_s * 2.718281828459045**left_out,
    }


def planted(
    truths: dict[str, Truth],
    errors: dict[str, float] | None = None,
    layouts: list[tuple[str, int, int, int]] = LAYOUTS,
) -> Effect:
    """Each way by its truth, on these layouts; every layout left out was wrong by ± its way's error, in turn."""
    points = []
    for way, truth in truths.items():
        error = (errors or {}).get(way, 0.1)
        points += [
            row(way, layout, truth.time_s(*layout), error if place % 2 else -error)
            for place, layout in enumerate(layouts)
        ]
    return Effect(effect="datatypes", locality="cache", variant="default", mpi="Any MPI", points=points)

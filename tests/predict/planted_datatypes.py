"""An effect `datatypes` with known costs, as it stands in a machine file; blocks are counted one by one."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from hockney.machine.file import Host, HostCache
from hockney.models.effects.base import Cell, Effect

CACHE_B = {"L1": 2**15, "L2": 2**20, "L3": 2**25}
HOST = Host(
    host="a",
    caches=[
        # Of two cores, and one for instructions, which no data are in.
        *(
            HostCache(level=int(name[1]), type="Unified", size_B=size_B, shared=[cpu])
            for name, size_B in CACHE_B.items()
            for cpu in (0, 1)
        ),
        HostCache(level=1, type="Instruction", size_B=2**16, shared=[0]),
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
    element_s: float = 4e-10
    copied_block_s: float = 5e-9
    page_s: float = 2e-8
    switch_B: int | None = None
    short_message_block_s: float = 6e-9
    kernel_block_s: float = 4e-7
    block_s: dict[str, float] = field(default_factory=lambda: {"vector": 2e-9, "indexed": 3e-9})
    line_s: dict[str, float] = field(default_factory=lambda: {"L1": 1e-9, "L2": 3e-9, "L3": 1e-8, "memory": 6e-8})

    def time_s(self, layout: str, blocks: int, block_B: int, stride_B: int) -> float:
        """Of a message from this layout."""
        size_B, lines, extent_B = counted(blocks, block_B, stride_B)
        where = level(blocks, block_B, stride_B)
        contiguous_s = self.alpha_s + self.beta_s_per_B * size_B
        if extent_B == size_B:
            return contiguous_s
        beyond = max(0, lines - -(-size_B // 64))
        fixed_s = self.setup_s + self.element_s * size_B
        block_s, copied_s = self.block_s[layout], self.copied_block_s if block_B > 8 else 0.0
        if self.switch_B and size_B < self.switch_B:
            block_s = self.short_message_block_s
        elif self.switch_B and blocks <= 1024:
            block_s, copied_s = self.kernel_block_s, 0.0
        blocks_s = (block_s + copied_s) * (blocks - 1)
        lines_s = self.line_s[where] * beyond
        if where in ("L3", "memory"):
            lines_s += self.page_s * max(0, len(touched(blocks, block_B, stride_B, 4096)) - -(-size_B // 4096))
        return contiguous_s + fixed_s + blocks_s + lines_s


@cache
def touched(blocks: int, block_B: int, stride_B: int, unit_B: int) -> set[int]:
    """The numbers of the lines or pages that the blocks touch."""
    found: set[int] = set()
    for block in range(blocks):
        start_B = block * stride_B
        found.update(range(start_B // unit_B, (start_B + block_B - 1) // unit_B + 1))
    return found


def counted(blocks: int, block_B: int, stride_B: int) -> tuple[int, int, int]:
    """(bytes, lines of 64 B, extent)."""
    return blocks * block_B, len(touched(blocks, block_B, stride_B, 64)), (blocks - 1) * stride_B + block_B


def level(blocks: int, block_B: int, stride_B: int) -> str:
    """Where the message and the sets that its lines take have room together."""
    lines = touched(blocks, block_B, stride_B, 64)
    need_B = len(lines) * 4096 // len({line % 64 for line in lines}) + blocks * block_B
    return next((name for name, room_B in CACHE_B.items() if need_B <= room_B), "memory")


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
        "level": level(blocks, block_B, stride_B),
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

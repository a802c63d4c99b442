"""What scattered data cost a message: by block length, stride and kind, sent by the library and by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hockney.campaign.effects.base import NO_BYTES, Here, NotMeasurable, Question, Questions, effects

SIZE_B = 16 * 2**10
"""The message of Hoefler et al. 2010, figure 1b."""
SIZES_B = (2**10, SIZE_B, 2**18)
SWITCHING_B = (2**12, 2**13)
"""Sizes between those above at which libraries change their protocol; blocks may cost otherwise there."""
CONTIGUOUS_B = (2**11, *SWITCHING_B, 2**16)
"""Measured contiguous beside the sizes above: the line between two must not run far past a jump."""
STRIDES_B = tuple(2**power for power in range(13))
"""The first makes blocks touch, the last puts one block on a page: at 16 KiB it spans 64 MiB."""
BLOCKS_B = (8, 64, 256, 1024, 4096)
COPIED_B = (16, 32)
"""Blocks that are copied by a call, not by a load and a store, so short that the call is what they cost."""
SIDE = 64
"""Elements of 8 B along each edge of the block whose faces are sent: 2 MiB, faces of 32 KiB."""
TIME_SHARE = 0.05
"""Share of a point's time for each of about 200 questions."""

Layout = dict[str, int | str]


@effects.register("datatypes")
def ask(here: Here) -> Questions:
    """Each way on its layouts, at every locality."""
    if here.simulated:
        yield NotMeasurable("a simulation has no memory hierarchy: gathering data takes no time in it")
        return
    if here.oversubscribed:
        yield NotMeasurable(f"ranks that share a core disturb each other's copies ({here.oversubscribed})")
        return
    if not here.largest_B:
        yield NotMeasurable(NO_BYTES)
        return
    for locality, a, b in here.pairs:
        for way, layouts in ways(here.largest_B, here.seed).items():
            for layout in layouts:
                planted = {"planted_block_s": 0, "planted_line_s": 0}
                yield Question((a, b), {"way": way, **layout, **planted, **here.timing(TIME_SHARE)}, locality)


def ways(largest_B: int, seed: int) -> dict[str, list[Layout]]:
    """Layouts by way (cpp/runner/effects/datatypes.cpp), messages of up to `largest_B`, none of them twice."""
    faces: list[Layout] = [{"layout": f"face_{axis}", "side": SIDE} for axis in "xyz"]
    if largest_B < 8 * SIDE**2:
        faces = []
    face_B = [8 * SIDE**2] if faces else []
    main_B = min(SIZE_B, largest_B)
    all_B = [size_B for size_B in sorted({main_B, *face_B, *SIZES_B, *CONTIGUOUS_B}) if size_B <= largest_B]
    contiguous = [_contiguous(size_B) for size_B in all_B]
    by_block = list(_by_block(main_B, (*BLOCKS_B, *COPIED_B)))
    others = [
        layout
        for size_B in SIZES_B
        if size_B <= largest_B and size_B != main_B
        for layout in _by_block(size_B, BLOCKS_B)
    ]
    switching = [layout for size_B in SWITCHING_B if size_B <= largest_B for layout in _by_block(size_B, (8, 64))]
    sparse = [_strided("vector", main_B, 8, stride_B) for stride_B in (64, 512, 4096, 4104, 16384)]
    listed = [
        _strided("indexed", main_B, 4, 8),
        _strided("indexed", main_B, 8, 16),
        _strided("indexed", main_B, 64, 128),
        *(_strided("irregular", main_B, *shape) for shape in ((8, 64), (64, 256), (8, 1024))),
    ]
    listed = [{"seed": seed, **layout} for layout in listed]
    few = [_strided("vector", main_B, 1, stride_B) for stride_B in (2, 64, 1024, 2048, 4096)]
    apart = [_strided("vector", main_B, 8, stride_B) for stride_B in (4096, 4104)]
    short = [*contiguous, *few, *by_block, *switching, *apart, *listed, *faces]
    by_way = {
        "send": [
            *contiguous,
            *(_strided("vector", main_B, 1, stride_B) for stride_B in STRIDES_B),
            *by_block,
            *others,
            *switching,
            *sparse,
            *listed,
            *faces,
        ],
        "hand": [*contiguous, *few, *by_block, *others, *switching, *apart, *listed, *faces],
        "receive": short,
        "pack": short,
        "unpack": short,
    }
    return {way: _unique(layouts) for way, layouts in by_way.items()}


def _contiguous(size_B: int) -> Layout:
    return {"layout": "contiguous", "blocks": 1, "block_B": size_B, "stride_B": size_B}


def _strided(kind: str, size_B: int, block_B: int, stride_B: int) -> Layout:
    block_B = min(block_B, size_B)
    blocks = size_B // block_B
    return {"layout": kind, "blocks": blocks, "block_B": block_B, "stride_B": max(stride_B, block_B)}


def _by_block(size_B: int, blocks_B: Sequence[int]) -> Iterator[Layout]:
    """Layouts of at least four blocks of these lengths, of which every second belongs to the message."""
    for block_B in blocks_B:
        if 4 * block_B <= size_B:
            yield _strided("vector", size_B, block_B, 2 * block_B)


def _unique(layouts: list[Layout]) -> list[Layout]:
    return list({tuple(sorted(layout.items())): layout for layout in layouts}.values())

"""The effect `datatypes` on every MPI: what arrives, what is counted, planted costs per block and line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.runner.sessions import FAR, LIMIT_S, ask_all, session_of, simulated

from hockney.campaign.effects.base import Question
from hockney.models.effects.base import effect_models
from hockney.records.answers import Answer
from hockney.records.effect_record import EffectRecord
from hockney.runner.session import Session

TRIES = 5
"""A neighbour may take the processor away; on an idle machine the first is enough."""
WAYS = ("send", "receive", "hand", "pack", "unpack")
BASE: dict[str, Any] = {
    "planted_block_s": 0,
    "planted_line_s": 0,
    "repetitions": 2,
    "least_samples": 6,
    "budget_s": 0.2,
    "tolerance": 0.01,
}
LAYOUTS: list[dict[str, Any]] = [
    {"layout": "contiguous", "blocks": 1, "block_B": 5000, "stride_B": 5000},
    {"layout": "vector", "blocks": 1000, "block_B": 1, "stride_B": 1},
    {"layout": "vector", "blocks": 700, "block_B": 3, "stride_B": 7},
    {"layout": "vector", "blocks": 90, "block_B": 8, "stride_B": 200},
    {"layout": "vector", "blocks": 40, "block_B": 5000, "stride_B": 9000},
    {"layout": "indexed", "blocks": 300, "block_B": 4, "stride_B": 12, "seed": 3},
    {"layout": "irregular", "blocks": 300, "block_B": 2, "stride_B": 130, "seed": 3},
    {"layout": "face_x", "side": 9},
    {"layout": "face_y", "side": 9},
    {"layout": "face_z", "side": 9},
]


session = session_of(2, bind_to="none")


def ask(session: Session, **request: Any) -> dict[str, Any]:
    return session.effect(LIMIT_S, (0, 1), operation="datatypes", **{**BASE, **request}).as_said()


def touched(layout: dict[str, Any]) -> NDArray[np.int64]:
    """The byte offsets of a layout, blocks × bytes, by numpy's own indexing."""
    if layout["layout"].startswith("face_"):
        side = layout["side"]
        cube = np.arange(side**3).reshape(side, side, side)  # z, y, x
        part = {"face_x": cube[:, :, :1], "face_y": cube[:, :1, :], "face_z": cube[:1, :, :]}[layout["layout"]]
        elements = part.reshape({"face_x": side**2, "face_y": side, "face_z": 1}[layout["layout"]], -1)
        return np.asarray((elements[:, :, None] * 8 + np.arange(8)).reshape(elements.shape[0], -1))
    starts = np.arange(layout["blocks"]) * layout["stride_B"]
    return np.asarray(starts[:, None] + np.arange(layout["block_B"]))


@pytest.mark.parametrize("way", WAYS)
def test_what_is_sent_arrives_where_it_belongs(session: Session, way: str) -> None:
    for layout in LAYOUTS:
        answer = ask(session, way=way, **layout)
        assert answer["verified"] is True, layout
        assert len(answer["samples_s"]) == 2
        assert min(answer["samples_s"]) >= 0
        offsets = touched(layout)
        assert (answer["bytes"], answer["blocks"]) == (offsets.size, offsets.shape[0]), layout
        if layout["layout"] == "irregular":
            # A block of 2 B may lie across two lines, and two neighbours in one.
            assert 150 <= answer["lines"] <= answer["accesses"]
            assert 300 <= answer["accesses"] <= 600
            continue
        lines = offsets // 64
        assert answer["extent_B"] == offsets.max() + 1, layout
        assert answer["lines"] == np.unique(lines).size, layout
        assert answer["accesses"] == sum(np.unique(row).size for row in lines), layout


@pytest.mark.one_mpi
@pytest.mark.parametrize(
    ("way", "planted"),
    [
        ("send", "planted_block_s"),
        ("receive", "planted_line_s"),
        ("hand", "planted_line_s"),
        ("pack", "planted_block_s"),
        ("unpack", "planted_line_s"),
    ],
)
def test_a_planted_cost_is_measured(session: Session, way: str, planted: str) -> None:
    layout: dict[str, Any] = {"layout": "vector", "blocks": 128, "block_B": 128, "stride_B": 256}
    layout |= {"way": way, "repetitions": 0, "budget_s": 0.5}
    # 256 µs once and twice, in both so long that a sample is one round: only what is planted differs. The fastest
    # samples are those that nobody has disturbed.
    count, each_s = {"planted_block_s": (128, 2e-6), "planted_line_s": (256, 1e-6)}[planted]
    ratios = []
    for _ in range(TRIES):
        once, twice = (min(ask(session, **layout, **{planted: k * each_s})["samples_s"]) for k in (1.0, 2.0))
        ratios.append((twice - once) / (count * each_s))
        if abs(ratios[-1] - 1) < 0.03:
            return
    pytest.fail(f"planted cost recovered as {ratios}")


@pytest.mark.mpi
@pytest.mark.simulated
def test_the_whole_way_recovers_planted_costs_between_simulated_hosts() -> None:
    """Sixty-four simulated ranks, whose copies cost nothing but what is planted: the fit must find that."""
    block_s, line_s = 2e-8, 5e-8
    caches = [{"level": 1, "size_B": 2**15}, {"level": 2, "size_B": 2**20}]
    records = []
    with simulated(64) as session:

        def answered(question: Question) -> Answer | None:
            # Nothing varies, so that few samples do; and large layouts take a simulation's own time.
            planted = {"planted_block_s": block_s, "planted_line_s": line_s, "repetitions": 6}
            asked: dict[str, Any] = {**question.parameters, **planted}
            is_large = asked.get("blocks", 1) * asked.get("stride_B", 0) > 2**22
            # Blocks that touch are one, of which the model expects no planted cost a block.
            if is_large or (asked["layout"] == "vector" and asked["stride_B"] == asked["block_B"]):
                return None
            answer = session.effect(LIMIT_S, question.members, operation="datatypes", **asked)
            assert answer.verified is True, asked
            records.append(
                EffectRecord(
                    effect="datatypes",
                    members=list(question.members),
                    parameters=asked,
                    answer=answer,
                    about={"caches": caches},
                )
            )
            return answer

        ask_all("datatypes", FAR, answered)
    found = effect_models.get("datatypes")(records).parameters
    for way in WAYS:
        assert found[f"{way}_strided_block_s"].value == pytest.approx(block_s, rel=0.03), way
        for level in ("L2", "memory"):
            assert found[f"{way}_line_{level}_s"].value == pytest.approx(line_s, rel=0.03), (way, level)

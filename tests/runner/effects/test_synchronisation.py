"""Sends to a late receiver on every MPI; a simulated library's thresholds come back to the byte."""

from __future__ import annotations

from typing import Any

import pytest
from tests.runner.sessions import LIMIT_S, ask_all, session_of, simulated, start

from hockney.campaign.effects.base import Here, Question
from hockney.errors import RequestError
from hockney.models.effects.base import Effect, effect_models
from hockney.records.answers import Answer
from hockney.records.effect_record import EffectRecord
from hockney.runner.breaks import eager_limits_B
from hockney.runner.mpi import Mpi
from hockney.runner.session import Session

RETRIES = 3
"""A machine whose cores are all busy may keep a process away for longer than any patience."""


def ask(session: Session, size_B: int, receiver: str, **other: Any) -> dict[str, Any]:
    request = {"operation": "synchronisation", "bytes": size_B, "patience_s": 2e-4, "tries": 5, **other}
    return session.effect(LIMIT_S, (0, 1), receiver=receiver, **request).as_said()


session = session_of(2)


def test_small_sends_go_and_large_ones_wait(mpi: Mpi, session: Session) -> None:
    """No MPI has no eager protocol; 16 MiB wait.

    Of a receiver in the library, but for Intel MPI 2021.18: there such a receiver takes even 16 MiB into memory
    of its own (2.3 ms, of which a copy is 1.0), so that only one that computes makes its sender wait.
    """
    late = "absent" if mpi.kind == "intel" else "present"
    for size_B, receiver, is_free in ((0, "present", True), (64, "present", True), (2**24, late, False)):
        for _ in range(RETRIES):
            answer = ask(session, size_B, receiver)
            assert answer["verified"] is True
            assert answer["valid"] == len(answer["sending_s"]) == len(answer["receiving_s"]) == 5
            if (2 * answer["done"] > answer["valid"]) == is_free:
                break
        else:
            pytest.fail(f"{size_B} B: {answer['done']} of {answer['valid']} did not wait")


def test_the_eager_limit_is_that_of_the_library(mpi: Mpi, session: Session) -> None:
    """The largest eager message goes at once, one of a byte more waits."""
    if mpi.kind != "openmpi":
        pytest.skip("only of Open MPI is it known what its limit counts")
    limit_B = eager_limits_B(mpi.kind, mpi.version, session.hello.settings)["shared_memory"]
    for size_B, is_free in ((limit_B, True), (limit_B + 1, False)):
        for _ in range(RETRIES):
            answer = ask(session, size_B, "present")
            if (2 * answer["done"] > answer["valid"]) == is_free:
                break
        else:
            pytest.fail(f"{size_B} B: {answer['done']} of {answer['valid']} did not wait")


def test_messages_to_an_absent_receiver_arrive_whole(session: Session) -> None:
    for size_B in (1, 1000, 2**20):
        answer = ask(session, size_B, "absent", tries=2)
        assert answer["verified"] is True
        # Away from before the send until after the verdict, or the try does not count.
        assert all(sending_s < answer["absence_s"] for sending_s in answer["sending_s"])
        assert answer["valid"] + answer["spoilt"] >= 2
    with pytest.raises(RequestError, match="receiver must be"):
        ask(session, 1, "asleep")


@pytest.mark.one_mpi
def test_effects_of_a_pair_refuse_a_third_member_instead_of_waiting_for_it(mpi: Mpi) -> None:
    """Counts are checked before anything else of a request; what is left out of these is not missed."""
    with start(mpi, ranks=4) as session:
        for effect, members in (
            ("synchronisation", (0, 1, 2)),
            ("overlap", (0, 1, 2)),
            ("datatypes", (0, 1, 2)),
            ("matching", (0, 1, 2, 3)),
            ("injection", (0,)),
        ):
            with pytest.raises(RequestError, match="members"):
                session.effect(LIMIT_S, members, operation=effect)
        # The session goes on.
        assert ask(session, 1, "present")["verified"] is True


def measured(session: Session, **about: Any) -> Effect:
    """What a campaign would do with one pair."""
    here = Here(pairs=[("network", 0, 1)], localities={(0, 1): "network"}, ranks=[], simulated=True, **about)
    records: dict[str, EffectRecord] = {}

    def answered(question: Question) -> Answer | None:
        words = str(question.parameters)
        if words not in records:
            asked = dict(question.parameters)
            answer = session.effect(LIMIT_S, question.members, operation="synchronisation", **asked)
            records[words] = EffectRecord(
                effect="synchronisation",
                locality="network",
                parameters=asked,
                answer=answer,
                about={"simulated": True},
            )
        return records[words].answer

    ask_all("synchronisation", here, answered)
    return effect_models.get("synchronisation")(list(records.values()))


@pytest.mark.simulated
@pytest.mark.parametrize(
    ("small", "detached"), [(0, 65536), (1, 1000), (777, 777), (4097, 131071), (65536, 70001)]
)
def test_thresholds_of_a_simulated_library_come_back_to_the_byte(small: int, detached: int) -> None:
    """SMPI compares sizes with `<`: its thresholds are the first sizes that wait, or do not travel early."""
    arguments = (f"--cfg=smpi/async-small-thresh:{small}", f"--cfg=smpi/send-is-detached-thresh:{detached}")
    with simulated(arguments=arguments) as session:
        effect = measured(session)
    values = {name: one.value for name, one in effect.parameters.items()}
    # With a threshold of 0 not even an empty message travels early: there is no largest one that does.
    arrived = {"arrived_B": small - 1} if small else {}
    assert values == {"S_B": detached - 1, "S_absent_B": detached - 1, **arrived}

"""The loop of every campaign: what is asked is answered on disk before the next, failures go to the asker."""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from tests.campaign.fake_campaign import Silent, fake_launch, measured, plan, sizes

from hockney.campaign.loop import MOST_FAILURES, Asking, Loop, Request, Running, Subject
from hockney.campaign.plan import Launching
from hockney.records.effect_record import EffectRecord
from hockney.records.folder import Campaign
from hockney.records.journal import FailureLine, LaunchLine
from hockney.runner.session import LaunchFailed, Limitation, Refused, Session

DEADLY, NO_MEMORY, CONSTRAINT = 100, 101, 102
"""Numbers at which the fake runner's effect dies or refuses."""


launch = partial(fake_launch, warnings=["a word to the user"])


class Numbers:
    """Asks for numbers, each once whatever becomes of it."""

    def __init__(self, *numbers: int, campaign: Campaign | None = None) -> None:
        self.left = list(numbers)
        self.campaign = campaign
        self.seen: list[tuple[int, str]] = []

    def asking(self, running: Running) -> Asking[EffectRecord]:
        while self.left:
            number = self.left[0]

            def ask(session: Session, number: int = number) -> list[EffectRecord]:
                answer = session.effect(20.0, (0, 1), operation="probe", number=number)
                return [EffectRecord(effect="probe", answer=answer, launch=running.recorded())]

            try:
                (record,) = yield Request(ask, Subject(FailureLine(asked=str(number)), "probe"))
            except LaunchFailed:
                self.seen.append((self.left.pop(0), "died"))
                raise
            except (Refused, Limitation) as error:
                self.seen.append((self.left.pop(0), type(error).__name__))
                continue
            if self.campaign is not None:
                assert self.campaign.effects()[-1] == record, "on disk before it is told"
            self.seen.append((self.left.pop(0), "answered"))


def loop(campaign: Campaign | None, time_s: float | None = None) -> tuple[Loop, Silent]:
    watcher = Silent()
    return Loop(campaign, Launching(ranks=2, time_limit_s=20.0), watcher, time_s), watcher


def test_records_are_on_disk_and_the_launch_is_written_once(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path / "c", {})
    numbers = Numbers(1, 2, campaign=campaign)
    kept = loop(campaign)[0].run(launch(), 0, numbers.asking)
    assert numbers.seen == [(1, "answered"), (2, "answered")]
    assert kept == campaign.effects()
    (line,) = campaign.launches()
    assert {record.launch for record in kept} == {line.id}
    assert line.ranks[1].as_said() == {"rank": 1, "host": "h", "machine": "m", "cpu": 1, "affinity": [1]}


def test_a_launch_that_was_asked_nothing_leaves_no_line(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path / "c", {})
    assert loop(campaign)[0].run(launch(), 0, Numbers().asking) == []
    assert campaign.launches() == []


def test_refusals_reach_the_asker_and_the_launch_goes_on(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path / "c", {})
    numbers = Numbers(1, NO_MEMORY, CONSTRAINT, 2)
    asked, _ = loop(campaign)
    asked.run(launch(), 0, numbers.asking)
    assert [what for _, what in numbers.seen] == ["answered", "Refused", "Limitation", "answered"]
    assert asked.outcome.measured == 2
    assert campaign.failures() == [], "what a refusal means is the asker's to say"


def test_a_death_is_written_with_what_was_in_flight_and_the_rest_asked_again(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path / "c", {})
    numbers = Numbers(1, DEADLY, 2)
    asked, watcher = loop(campaign)
    kept = asked.run(launch(), 3, numbers.asking)
    assert [what for _, what in numbers.seen] == ["answered", "died", "answered"]
    assert len(kept) == 2
    (failure,) = campaign.failures()
    assert (failure.asked, failure.index, failure.variant) == (str(DEADLY), 3, "default")
    assert asked.outcome.failures == [f"probe: {failure.reason}"]
    # What is said of a launch is said once.
    assert watcher.warnings.count("a word to the user") == 1


def test_an_asker_that_makes_way_goes_on_in_a_new_launch(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path / "c", {})
    numbers = Numbers(1, 2, 3)

    def one_each(running: Running) -> Asking[EffectRecord]:
        asking = numbers.asking(running)
        records = yield next(asking)
        with suppress(StopIteration):
            asking.send(records)
        running.makes_way = bool(numbers.left)

    kept = loop(campaign)[0].run(launch(), 0, one_each)
    assert [what for _, what in numbers.seen] == ["answered"] * 3
    assert [record.launch for record in kept] == [line.id for line in campaign.launches()]
    assert len(campaign.launches()) == 3


def test_deaths_in_a_row_end_it_and_an_answer_between_them_does_not(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path / "c", {})
    hopeless = Numbers(*[DEADLY] * 5, 1)
    loop(campaign)[0].run(launch(), 0, hopeless.asking)
    assert len(hopeless.seen) == MOST_FAILURES
    between = Numbers(*[DEADLY, 1] * 5)
    loop(campaign)[0].run(launch(), 0, between.asking)
    assert between.left == []


def test_an_interrupt_while_a_launch_ends_is_raised_before_the_next_one_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = Campaign.create(tmp_path / "c", {})
    closed = Session.close

    def interrupted(session: Session) -> None:
        closed(session)
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "close", interrupted)
    asked, _ = loop(campaign)
    assert asked.run(launch(), 0, Numbers(1, 2).asking) == campaign.effects()
    assert len(campaign.effects()) == 2
    with pytest.raises(KeyboardInterrupt):
        asked.run(launch(), 1, Numbers(3).asking)
    assert len(campaign.effects()) == 2


def test_a_launch_that_never_starts_is_not_tried_again() -> None:
    asked, _ = loop(None)
    assert asked.run(launch("stillborn"), 0, Numbers(1).asking) == []
    assert len(asked.outcome.failures) == 1


def test_asked_once_the_end_of_the_launch_is_the_caller_s() -> None:
    numbers = Numbers(1, DEADLY, 2)
    with pytest.raises(LaunchFailed, match="exit code 9"):
        loop(None)[0].once(launch(), 0, numbers.asking)
    assert numbers.left == [2]
    assert len(loop(None)[0].once(launch(), 0, numbers.asking)) == 1, "nothing is kept, all is returned"


def test_without_time_nothing_is_launched() -> None:
    asked, _ = loop(None, time_s=0.0)
    assert asked.run(launch("stillborn"), 0, Numbers(1).asking) == []
    assert asked.outcome.failures == []


def test_each_mapping_is_launched_and_resumed_by_itself(tmp_path: Path) -> None:
    """One that fails leaves the other, and is what a later run still measures."""
    asked = plan(mappings=["core", "node"], sizes_B=[8, 64])
    by_core, by_node = (
        fake_launch(name=f"default by {mapping}", provenance=LaunchLine(mapping=mapping))
        for mapping in asked.mappings
    )
    broken = dataclasses.replace(by_node, argv=[*by_node.argv[:-1], "stillborn"])
    campaign, _, _ = measured(tmp_path / "c", asked, by_core, broken)
    assert (sizes(campaign, mapping="core"), sizes(campaign, mapping="node")) == ([8, 64], [])
    assert [failure.mapping for failure in campaign.failures()] == ["node"]
    campaign, _, _ = measured(tmp_path / "c", asked, by_core, by_node)
    assert (sizes(campaign, mapping="core"), sizes(campaign, mapping="node")) == ([8, 64], [8, 64])
    assert {record.variant for record in campaign.records()} == {"default"}

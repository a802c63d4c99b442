"""What is called wrong, on answers written by hand."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.factories import pinning_answer

from hockney.apps.pinning.answer import PinningAnswer, SeenHost
from hockney.apps.pinning.judge import findings, line, sight
from hockney.apps.pinning.plan import plan, wish
from hockney.apps.pinning.show import node_tables
from hockney.apps.pinning.topology import regular
from hockney.report.node_figure import drawing

NODE = regular(1, 1, 1, 2, 2)  # CPUs 0, 1 are core 0; 2, 3 are core 1


_answer = partial(pinning_answer, NODE)


def _kinds(answer: PinningAnswer, *wanted: Any) -> list[str]:
    made = plan(NODE, wish(*wanted)) if wanted else None
    return [one.kind for one in findings(sight(answer), made)]


def test_a_line_of_each_thread() -> None:
    seen = sight(_answer([([0], [0]), ([2], [2])]))
    assert [line(one) for one in seen.threads] == ["rank=0; thread=0; cpu id=0", "rank=0; thread=1; cpu id=2"]
    assert seen.threads[0].share == 0.5


def test_nothing_is_wrong() -> None:
    assert _kinds(_answer([([0, 1], [1])], [([2, 3], [2])]), 2, 1, "core") == []
    assert _kinds(_answer([([0], [0])], [([1], [1])]), 2, 1, "compact") == []


def test_two_on_one_cpu() -> None:
    wrong = findings(sight(_answer([([0], [0])], [([0], [0])])))
    assert [one.kind for one in wrong] == ["oversubscribed", "shared_cpu"]
    assert wrong[0].text == "a is oversubscribed: 2 threads on 1 CPUs that they may use"
    assert wrong[1].text == "threads 0.0, 1.0 share CPU 0 of a"


def test_two_on_one_core() -> None:
    (wrong,) = findings(sight(_answer([([0], [0]), ([1], [1])])))
    assert (wrong.kind, wrong.text) == ("shared_core", "threads 0.0, 0.1 share one core of a, CPUs 0-1")


def test_floating() -> None:
    (wrong,) = findings(sight(_answer([([0, 1, 2, 3], [0, 3])])))
    assert wrong.kind == "floating"
    assert wrong.text == "threads 0.0 may float over CPUs 0-3 of a, and moved 1 times while seen"


def test_not_as_wished() -> None:
    assert _kinds(_answer([([2], [2])], [([0], [0])]), 2, 1, "core") == ["misplaced", "misplaced"]
    assert _kinds(_answer([([0], [0])]), 1, 2, "core") == ["threads"]
    assert _kinds(_answer([([0], [0])], [([2], [2])]), 2, 1, "core", 2) == ["misplaced", "misplaced"]


def test_a_simulated_host_is_known_by_its_cores() -> None:
    seen = _answer([([], [])], [([], [])])
    answer = seen.model_copy(update={"hosts": [SeenHost(host="a", cpus=[], cores=1)]})
    (wrong,) = findings(sight(answer))
    assert wrong.text == "a is oversubscribed: 2 threads on 1 cores"
    assert line(sight(answer).threads[0]) == "rank=0; thread=0; cpu id=none"


def test_each_domain_has_a_row_with_its_threads() -> None:
    (table,) = node_tables({"a": (NODE, {0: ["0.0"], 3: ["0.1", "1.0"]})})
    assert (table.caption, table.rows) == ("a", [["0", "0", "0:0.0 1: 2: 3:0.1,1.0"]])


def test_caches_are_counted_over_the_whole_node() -> None:
    node = regular(1, 2, 2, 2, 1)
    (table,) = node_tables({"a": (node, {})})
    assert [row[1] for row in table.rows] == ["0", "0", "1", "1"]
    (axes,) = drawing({"a": (node, {})}).axes
    words = [f"cache {number}" for number in range(4)]
    assert [text for text in (one.get_text() for one in axes.texts) if text.startswith("cache")] == words

"""The JUnit document: a case for each guideline and call, its failures, names that XML cannot hold."""

from __future__ import annotations

from xml.etree import ElementTree

from tests.check.planted import consistent, frame, times

from hockney.check.cells import times_in
from hockney.check.confirm import confirm
from hockney.check.junit import as_junit
from hockney.check.study import study


def slow(operation: str, ranks: int, size_B: int) -> float:
    return consistent(operation, ranks, size_B) * (9.0 if (operation, ranks) == ("gather", 4) else 1.0)


def test_failures_are_counted_and_named() -> None:
    result = study(times(slow))
    root = ElementTree.fromstring(as_junit(result.findings, None))
    [suite] = root
    failed = suite.findall("testcase[failure]")
    assert int(suite.attrib["failures"]) == len(failed) > 0
    assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))
    assert all("gather" in str(case.get("name")) and "4 ranks" in str(case.get("name")) for case in failed)
    lines = sum(len(str(case[0].text).splitlines()) for case in failed)
    assert lines == len(result.violations)


def test_what_a_second_campaign_refutes_is_no_failure() -> None:
    result = study(times(slow))
    refuted = confirm(result.findings, times(seed=7))
    [suite] = ElementTree.fromstring(as_junit(refuted, None))
    assert suite.attrib["failures"] == "0"
    upheld = confirm(result.findings, times(slow, seed=7))
    [suite] = ElementTree.fromstring(as_junit(upheld, None))
    assert int(suite.attrib["failures"]) > 0


def test_what_undecided_is_skipped() -> None:
    [suite] = ElementTree.fromstring(as_junit(study(times(slow, launches=2)).findings, None))
    assert suite.attrib["skipped"] == suite.attrib["tests"]
    assert suite.attrib["failures"] == "0"


def test_names_that_no_xml_may_hold() -> None:
    table = frame(slow).assign(mpi='evil "<&>\x00\x1b')
    [suite] = ElementTree.fromstring(as_junit(study(times_in(table)).findings, None))
    assert 'evil "<&>\ufffd\ufffd' in str(suite[0].get("name"))

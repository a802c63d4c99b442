"""The JUnit document: a case for each guideline and call, its failures, names that XML cannot hold."""

from __future__ import annotations

from xml.etree import ElementTree

from tests.check.planted import MPIS, Measured, consistent, frame, times

from hockney.check.cells import times_in
from hockney.check.confirm import confirm, standing
from hockney.check.junit import as_junit
from hockney.check.shown import study_text
from hockney.check.study import study


def slow(operation: str, ranks: int, size_B: int) -> float:
    return consistent(operation, ranks, size_B) * (9.0 if (operation, ranks) == ("gather", 4) else 1.0)


def test_failures_are_counted_and_named() -> None:
    result = study(times(slow))
    root = ElementTree.fromstring(as_junit(result, None))
    [suite] = root
    failed = suite.findall("testcase[failure]")
    assert int(suite.attrib["failures"]) == len(failed) > 0
    assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))
    assert all("gather" in str(case.get("name")) and "4 ranks" in str(case.get("name")) for case in failed)
    lines = sum(len(str(case[0].text).splitlines()) for case in failed)
    assert lines == len(result.violations)


def test_what_a_second_campaign_refutes_is_no_failure() -> None:
    result = study(times(slow))
    refuted = confirm(result.violations, times(seed=7))
    assert refuted.of("not confirmed") == result.violations
    [suite] = ElementTree.fromstring(as_junit(result, None, refuted))
    assert suite.attrib["failures"] == "0"
    upheld = confirm(result.violations, times(slow, seed=7))
    [suite] = ElementTree.fromstring(as_junit(result, None, upheld))
    assert int(suite.attrib["failures"]) > 0


def test_what_was_suspected_and_stands_is_a_failure() -> None:
    def slower(operation: str, ranks: int, size_B: int) -> float:
        return consistent(operation, ranks, size_B) * (1.3 if operation == "gather" else 1.0)

    noise = Measured(MPIS[1])
    first = study(times(slower, noise=noise), ["gather_as_allgather"])
    assert first.suspects
    again = confirm(first.violations + first.suspects, times(slower, launches=15, noise=noise, seed=7))
    stands = standing(first, again)
    assert any(finding.verdict == "suspected" for finding in stands)
    [suite] = ElementTree.fromstring(as_junit(first, None, again))
    failed = suite.findall("testcase[failure]")
    assert sum(len(str(case[0].text).splitlines()) for case in failed) == len(stands)
    shown, said = study_text(first, again)
    assert shown is not None
    assert shown.row_count == len(first.violations) + sum(one.verdict == "suspected" for one in stands)
    assert f"measured again, of {len(first.suspects)} suspected: " in said


def test_what_cannot_be_told_is_skipped() -> None:
    [suite] = ElementTree.fromstring(as_junit(study(times(slow, launches=2)), None))
    assert suite.attrib["skipped"] == suite.attrib["tests"]
    assert suite.attrib["failures"] == "0"


def test_names_that_no_xml_may_hold() -> None:
    table = frame(slow).assign(mpi='evil "<&>\x00\x1b')
    [suite] = ElementTree.fromstring(as_junit(study(times_in(table)), None))
    assert 'evil "<&>\ufffd\ufffd' in str(suite[0].get("name"))

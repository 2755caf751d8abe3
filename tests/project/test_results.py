"""Test how `./dev test` adds up what several runs of pytest report."""

from __future__ import annotations

from pathlib import Path

from scripts.dev.results import Results, results_in

REPORT = """<?xml version="1.0"?><testsuites><testsuite time="1.5">
<testcase name="a"/>
<testcase name="b"><failure message="no"/></testcase><testcase name="c"><error message="no"/></testcase>
<testcase name="d"><skipped message="no data"/></testcase><testcase name="e"><skipped message="no data"/></testcase>
</testsuite></testsuites>"""


def test_outcomes_and_reasons_are_counted(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    total = Results()
    total.add(results_in(report))
    total.add(results_in(report))
    assert total.line() == "2 failed, 2 passed, 4 skipped, 2 errors in 3.00s"
    assert total.skipped == {"no data": 4}


def test_a_run_that_wrote_no_report_counts_nothing(tmp_path: Path) -> None:
    assert results_in(tmp_path / "none.xml").line() == "no tests ran in 0.00s"

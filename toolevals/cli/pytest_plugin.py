"""Makes a threshold an ordinary test in pytest. It needs the base install alone, and loads what it uses late.

`@pytest.mark.toolevals(dataset="cases.jsonl", threshold=0.9)` gives a test its examples by the fixture `toolevals`, and
fails it after its body where the threshold is not reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from toolevals.cli.pytest_evaluation import Evaluation

MARKER = "toolevals"
# The property of a test's report that says what its predictions were read from; it comes home from other processes too.
_READ = "toolevals_read"
_HELD = pytest.StashKey["Evaluation"]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        "toolevals(dataset, threshold=None, *, baseline=None, gate=None, trials=1): runs an agent on these "
        "examples with the `toolevals` fixture; `threshold` is the least pass rate of `outcome`, or of each "
        "metric by name",
    )


@pytest.fixture
def toolevals(request: pytest.FixtureRequest) -> Evaluation:
    """The examples of the test's marker, and what an agent makes of them."""
    marker = request.node.get_closest_marker(MARKER)
    if marker is None:
        raise pytest.UsageError(f"{request.node.nodeid}: the fixture toolevals needs @pytest.mark.toolevals(dataset=…)")
    held = _evaluation(marker, request.node.path.parent, request.node.nodeid)
    request.node.stash[_HELD] = held
    return held


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """Hold the threshold after the test's body, so that the test itself fails and not what comes after it."""
    __tracebackhide__ = True
    result = yield
    marker = pyfuncitem.get_closest_marker(MARKER)
    if marker is not None:
        held = pyfuncitem.stash.get(_HELD, None)
        if held is None:
            held = _evaluation(marker, pyfuncitem.path.parent, pyfuncitem.nodeid)
        try:
            held.hold()
        finally:
            pyfuncitem.user_properties += [(_READ, line) for line in held.what_was_read()]
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which formats each test's predictions were read as, and what was left out of them."""
    said = [
        (report.nodeid, line)
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, line in report.user_properties
        if name == _READ
    ]
    if said:
        terminalreporter.section("toolevals: what was read")
    before = ""
    for test, line in said:
        if test != before:
            terminalreporter.write_line(test)
        terminalreporter.write_line(f"  {line}")
        before = test


def _evaluation(marker: pytest.Mark, folder: Path, test: str) -> Evaluation:
    from toolevals.cli.pytest_evaluation import Evaluation, MarkerOptions

    try:
        marker_options = MarkerOptions.of(*marker.args, **marker.kwargs)
        return Evaluation.read(marker_options, folder)
    except (TypeError, ValueError) as error:
        raise pytest.UsageError(f"{test}: @pytest.mark.toolevals: {error}") from error

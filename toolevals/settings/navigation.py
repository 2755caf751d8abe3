"""The links in the top bar, listed here because a lower room does not know the addresses of a higher one."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """One link: its title, the name of its address, the name of the least role that sees it."""

    title: str
    to: str
    role: str
    # Other first parts of the path, below the project, that belong to it.
    sections: tuple[str, ...] = ()
    # What is counted beside it, of what the functions of COUNTED return.
    counts: str = ""
    # Whether the link is there only while something waits.
    when_waiting: bool = False


NAVIGATION = (
    Entry("Label", "labeling:label", "REVIEWER", counts="to_label"),
    Entry(
        "Calibration",
        "labeling:calibration-waiting",
        "REVIEWER",
        counts="to_calibrate",
        when_waiting=True,
    ),
    Entry("Adjudicate", "labeling:adjudicate", "ADJUDICATOR", counts="to_adjudicate"),
    Entry("Questions", "labeling:questions", "REVIEWER", counts="questions"),
    Entry("Feedback", "labeling:feedback", "REVIEWER", counts="to_read"),
    Entry("Datasets", "labeling:datasets", "VIEWER"),
    Entry(
        "Runs",
        "runs:runs",
        "VIEWER",
        sections=("experiments", "gates", "benchmarks", "subjects", "judges", "rubrics", "simulators"),
    ),
    Entry("Traces", "traces:traces", "VIEWER"),
    Entry("Tools", "registry:registries", "VIEWER"),
)

# Functions `(project, user, role) -> dict[str, int]` that count what waits for a person, by name.
COUNTED = ("labeling.queue.waiting.counted",)

# The same, counted for a project's first page alone.
HOME_COUNTED = ("labeling.queue.waiting.counted_at_home",)

# What fills a project's first page: see `toolevals.workspace.home`.
HOME_LOOK = "reports.home.page.project_look"
HOME_WAITING = (
    "labeling.home.waiting",
    "toolevals.workspace.home.waiting",
)
HOME_NEWS = (
    "toolevals.registry.home.news",
    "labeling.home.news",
    "toolevals.runs.home.news",
    "reports.home.live.news",
)
HOME_PANES = (("reports/parts/home_experiments.html", "reports.home.live.experiments"),)

# Functions `(request, words) -> Iterable[Found]` that search: see `toolevals.workspace.search`.
SEARCHED = (
    "toolevals.registry.search.registry_found",
    "labeling.search.labeling_found",
    "reports.search.runs_found",
    "toolevals.workspace.search.workspace_found",
)

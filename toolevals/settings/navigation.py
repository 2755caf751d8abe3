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
    # Dotted path of a function `(project, user) -> int` that counts what waits there.
    counted_by: str = ""
    # Whether the link is there only while something waits.
    when_waiting: bool = False


NAVIGATION = (
    Entry("Label", "labeling:label", "REVIEWER", counted_by="labeling.waiting.to_label"),
    Entry(
        "Calibration",
        "labeling:calibration-waiting",
        "REVIEWER",
        counted_by="labeling.waiting.left_to_calibrate",
        when_waiting=True,
    ),
    Entry("Adjudicate", "labeling:adjudicate", "ADJUDICATOR", counted_by="labeling.waiting.to_adjudicate"),
    Entry("Questions", "labeling:questions", "REVIEWER", counted_by="labeling.waiting.questions"),
    Entry("Feedback", "labeling:feedback", "REVIEWER", counted_by="labeling.waiting.to_read"),
    Entry("Datasets", "labeling:datasets", "VIEWER"),
    Entry(
        "Runs", "runs:runs", "VIEWER", sections=("experiments", "gates", "subjects", "judges", "rubrics", "simulators")
    ),
    Entry("Tools", "registry:registries", "VIEWER"),
)

# What fills a project's first page: see `toolevals.workspace.home`.
HOME_WAITING = (
    "labeling.home.waiting",
    "toolevals.workspace.home.waiting",
)
HOME_NEWS = (
    "toolevals.registry.home.news",
    "labeling.home.news",
    "toolevals.runs.home.news",
    "reports.home.news",
)
HOME_PANES = (("reports/parts/home_experiments.html", "reports.home.experiments"),)

"""Lists the links in the top bar, because a lower room does not know the addresses of a higher one."""

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


NAVIGATION = (
    Entry("Label", "labeling:label", "REVIEWER", sections=("questions", "feedback", "second-looks"), counts="to_label"),
    Entry("Adjudicate", "labeling:adjudicate", "ADJUDICATOR", counts="to_adjudicate"),
    Entry("Datasets", "labeling:datasets", "VIEWER"),
    Entry(
        "Runs",
        "runs:runs",
        "VIEWER",
        sections=("experiments", "gates", "benchmarks", "agents", "judges", "rubrics", "simulators"),
    ),
    Entry("Traces", "traces:traces", "VIEWER"),
    Entry("Issues", "reports:issues", "VIEWER"),
    Entry("Tools", "registry:registries", "VIEWER"),
    Entry("Guard", "reports:policies", "VIEWER", sections=("policy-rates",)),
)

# Functions `(project, user, role) -> dict[str, int]` that count what waits for a person, by name.
COUNTED = ("labeling.label.open_tasks.counted",)

# The same, counted for a project's first page alone.
HOME_COUNTED = ("labeling.label.open_tasks.counted_at_home",)
# What is assigned to a person, by the name under which it is counted: functions `(project, user) -> QuerySet` of rows
# with `due_on`.
ASSIGNED = {
    "assigned_examples": "labeling.label.assigned.examples",
    "assigned_disputes": "labeling.label.assigned.disputes",
    "assigned_issues": "reports.issues.home.assigned",
}
# Where mentioned people read what mentions them: see `toolevals.workspace.mentions.queries`.
MENTIONED_IN = {
    "labeling.comment": "labeling.questions.mentions.places",
    "reports.issueevent": "reports.issues.mentions.places",
    "runs.casenote": "toolevals.runs.remarks.mentions.places",
}

# What fills a project's first page: see `toolevals.workspace.home`.
HOME_LOOK = "reports.home.page.project_look"
HOME_WAITING = (
    "labeling.home.waiting",
    "reports.issues.home.waiting",
    "toolevals.workspace.home.waiting",
)
HOME_NEWS = (
    "toolevals.registry.home.news",
    "labeling.home.news",
    "toolevals.runs.home.news",
    "reports.home.page.news",
)
HOME_NOTES = (("sample/still.html", "toolevals.sample.rest.still_made"),)
HOME_PANES = (("reports/parts/home_experiments.html", "reports.home.page.experiments"),)

# Functions `(request, words) -> Iterable[Found]` that search: see `toolevals.workspace.search`.
SEARCHED = (
    "toolevals.registry.search.registry_found",
    "labeling.home.labeling_found",
    "reports.search.runs_found",
    "toolevals.workspace.search.workspace_found",
)


class Tab(NamedTuple):
    """One page of a sub-navigation: what its pages call themselves, its title, the name of its address.

    The address takes the project, then the dataset in tabs of datasets, then `more`.
    """

    here: str
    title: str
    to: str
    role: str = "VIEWER"
    more: tuple[str, ...] = ()
    # As an entry's.
    counts: str = ""
    # Whether the tab is there only while something waits.
    when_waiting: bool = False


class Tabs(NamedTuple):
    """The sub-navigation of a part of the application: its name for readers, and its pages in order."""

    label: str
    tabs: tuple[Tab, ...]


SUBNAVIGATION = {
    "label": Tabs(
        "Labelling pages",
        (
            Tab("label", "Label", "labeling:label", role="REVIEWER", counts="to_label"),
            Tab(
                "calibration",
                "Calibration",
                "labeling:calibration-waiting",
                role="REVIEWER",
                counts="to_calibrate",
                when_waiting=True,
            ),
            Tab("mine", "My labels", "labeling:my-labels", role="REVIEWER"),
            Tab("questions", "Questions", "labeling:questions", role="REVIEWER", counts="questions"),
            Tab("feedback", "Feedback", "labeling:feedback", role="REVIEWER", counts="to_read"),
        ),
    ),
    "project": Tabs(
        "Project pages",
        (
            Tab("project", "Overview", "workspace:project"),
            Tab("members", "Members", "workspace:members"),
            Tab("jobs", "Jobs", "workspace:jobs"),
            Tab("tokens", "Tokens", "workspace:tokens", role="OWNER"),
            Tab("secrets", "Secrets", "workspace:secrets", role="OWNER"),
            Tab("notifications", "Notifications", "workspace:notifications", role="OWNER"),
            Tab("audit", "Audit log", "workspace:audit", role="OWNER"),
            Tab("trash", "Trash", "workspace:trash", role="OWNER"),
            Tab("labelling", "Labelling", "labeling:labelling-settings", role="OWNER"),
            Tab("settings", "Settings", "workspace:settings", role="OWNER"),
        ),
    ),
    "dataset": Tabs(
        "Dataset pages",
        (
            Tab("examples", "Examples", "labeling:dataset"),
            Tab("coverage", "Coverage", "labeling:coverage"),
            Tab("agreement", "Agreement", "labeling:agreement"),
            Tab("lint", "Lint", "labeling:lint"),
            Tab("import", "Import", "labeling:import", role="ADJUDICATOR"),
            Tab("queue", "Queue", "labeling:queue", role="REVIEWER"),
            Tab("calibration", "Calibration", "labeling:calibrations", role="REVIEWER"),
            Tab("versions", "Versions", "labeling:versions"),
            Tab("datasheet", "Datasheet", "labeling:datasheet", more=("now",)),
            Tab("settings", "Guideline and settings", "labeling:dataset-settings"),
        ),
    ),
    "runs": Tabs(
        "Run pages",
        (
            Tab("runs", "Runs", "runs:runs"),
            Tab("experiments", "Experiments", "runs:experiments"),
            Tab("solved", "Agents and examples", "reports:solved"),
            Tab("gates", "Gates", "reports:gates"),
            Tab("agents", "Agents", "runs:agents"),
            Tab("judges", "Judges", "runs:judges"),
            Tab("rubrics", "Rubrics", "runs:rubrics"),
            Tab("simulators", "Simulators", "runs:simulators"),
        ),
    ),
    "traces": Tabs(
        "Trace pages",
        (
            Tab("traces", "Traces", "traces:traces"),
            Tab("tools", "Tools in production", "traces:tools"),
            Tab("rules", "Rules in production", "traces:rules"),
            Tab("costs", "Costs in production", "traces:costs"),
            Tab("promotions", "Examples from traces", "traces:promotions", role="ADJUDICATOR"),
            Tab("settings", "Trace settings", "traces:settings", role="OWNER"),
            Tab("judges", "Judges of traces", "traces:judges", role="OWNER"),
            Tab("policies", "Policies of traces", "traces:policies", role="OWNER"),
        ),
    ),
}

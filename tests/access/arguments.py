"""Real values for the arguments of every address, one table for each app.

A new argument of a new address needs a line in its app's table; the walk says so when it is missing.
"""

from __future__ import annotations

from tests.access.labeling_arguments import ARGUMENTS as LABELING
from tests.access.registry_arguments import ARGUMENTS as REGISTRY
from tests.access.reports_arguments import ARGUMENTS as REPORTS
from tests.access.reports_arguments import BADGES
from tests.access.runs_arguments import ARGUMENTS as RUNS
from tests.access.traces_arguments import ARGUMENTS as TRACES
from tests.access.workspace_arguments import ARGUMENTS as WORKSPACE
from tests.access.world import Argument

# By the address's first word, which is the app's name, and then by the argument's.
ARGUMENTS: dict[str, dict[str, Argument]] = {
    "badges": BADGES,
    "labeling": LABELING,
    "registry": REGISTRY,
    "reports": REPORTS,
    "runs": RUNS,
    "sample": {"part": lambda *_: "tools"},
    "traces": TRACES,
    "workspace": WORKSPACE,
}


def argument(address: str, name: str) -> Argument:
    """Return the maker of an argument of an address, such as "job" of "workspace-api:job"."""
    app = address.partition(":")[0].removesuffix("-api")
    try:
        return ARGUMENTS[app][name]
    except KeyError:
        raise AssertionError(f"tests/access has no value for {name!r} in {address!r}") from None

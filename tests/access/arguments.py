"""Real values for the arguments of every address, one table for each app.

A new argument of a new address needs a line in its app's table; the walk says so when it is missing.
"""

from __future__ import annotations

from tests.access import labeling_arguments, reports_arguments, workspace_arguments
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
    "operations": {"table": lambda *_: "failed", "job": workspace_arguments.a_job},
    "registry": REGISTRY,
    "reports": REPORTS,
    "runs": RUNS,
    "sample": {"part": lambda *_: "tools"},
    "traces": TRACES,
    # Those that django-allauth names.
    "account_reset_password_from_key": WORKSPACE,
    "mfa_remove_webauthn": WORKSPACE,
    "workspace": WORKSPACE,
}
# What is another thing for each person: all else is there for whoever asks.
OF_ONE_PERSON: frozenset[Argument] = frozenset(
    {
        labeling_arguments.a_label,
        labeling_arguments.a_look,
        labeling_arguments.a_skip,
        labeling_arguments.a_slot,
        labeling_arguments.a_view,
        labeling_arguments.an_adjudication,
        reports_arguments.a_dropped_file,
        reports_arguments.a_table_file,
        workspace_arguments.a_mention,
        workspace_arguments.a_passkey,
        workspace_arguments.a_trashed_project,
        workspace_arguments.an_offer,
    }
)


def argument(address: str, name: str) -> Argument:
    """Return the maker of an argument of an address, such as "job" of "workspace-api:job"."""
    app = address.partition(":")[0].removesuffix("-api")
    try:
        return ARGUMENTS[app][name]
    except KeyError:
        raise AssertionError(f"tests/access has no value for {name!r} in {address!r}") from None

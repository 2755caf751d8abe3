"""Work with a project on a server from Python: its datasets, runs and cases.

    from toolevals.client import Project

    project = Project(server="https://toolevals.example.org", project="shop", token="te_...")
    for case in project.run(12).cases(expected="get_order", actual="refund"):
        print(case.external_id, case.outcome)

Everything else of the REST interface is asked for by `project.request()`, `project.pages()` and
`project.download()`. What goes wrong is a `ServerError` that says what to do.
"""

from toolevals.client.datasets import Dataset, Version
from toolevals.client.project import Project
from toolevals.client.rows import Rows
from toolevals.client.runs import Case, CheckedGate, Rate, Run
from toolevals.server_errors import BadAddressError, LateError, ServerError, ServerSettingsError, UnreachableError

__all__ = [
    "BadAddressError",
    "Case",
    "CheckedGate",
    "Dataset",
    "LateError",
    "Project",
    "Rate",
    "Rows",
    "Run",
    "ServerError",
    "ServerSettingsError",
    "UnreachableError",
    "Version",
]

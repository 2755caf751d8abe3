"""Who may do what in `reports`: every member reads, and whoever labels may dispute the gold."""

from toolevals.workspace.access import Rule
from toolevals.workspace.models import Role

PAGES = ("run", "matrix", "cell", "cases", "case", "reliability", "floors", "trends", "bundle")
DOWNLOADS = (
    "matrix-csv",
    "tools-csv",
    "layers-csv",
    "judges-csv",
    "judged-csv",
    "cases-csv",
    "state-csv",
    "reliability-csv",
    "trials-csv",
    "steps-csv",
    "floors-csv",
    "trends-csv",
    "bundle-file",
)
INTERFACE = ("bundle", "bundle-file", "matrix", "tools", "layers", "reliability", "trials", "floors", "trends")

RULES = {
    **{f"reports:{name}": Rule(Role.VIEWER) for name in (*PAGES, *DOWNLOADS)},
    "reports:dispute": Rule(Role.REVIEWER),
    **{f"reports-api:{name}": Rule(Role.VIEWER) for name in INTERFACE},
}

"""Who may do what in `reports`: every member reads, whoever labels may dispute the gold, adjudicators gate runs."""

from toolevals.workspace.access import Audience, Rule
from toolevals.workspace.models import Role

PAGES = (
    "arguments",
    "run",
    "matrix",
    "cell",
    "cases",
    "case",
    "recovery",
    "reliability",
    "floors",
    "suspects",
    "trends",
    "subject-trends",
    "bundle",
    "gates",
    "gate",
    "gate-check",
    "run-gates",
    "compare-with",
    "compare",
    "compare-cases",
    "compare-case",
)
DOWNLOADS = (
    "overreach-csv",
    "arguments-csv",
    "matrix-csv",
    "tools-csv",
    "layers-csv",
    "judges-csv",
    "judged-csv",
    "cases-csv",
    "state-csv",
    "recovery-csv",
    "episodes-csv",
    "reliability-csv",
    "trials-csv",
    "steps-csv",
    "floors-csv",
    "suspects-csv",
    "trends-csv",
    "subject-trends-csv",
    "bundle-file",
    "gates-csv",
    "gate-csv",
    "run-gates-csv",
    "compare-layers-csv",
    "compare-tools-csv",
    "compare-matrix-csv",
    "compare-registry-csv",
    "compare-cases-csv",
)
INTERFACE = (
    "overreach",
    "arguments",
    "bundle",
    "bundle-file",
    "matrix",
    "tools",
    "layers",
    "recovery",
    "episodes",
    "judges",
    "reliability",
    "trials",
    "floors",
    "suspects",
    "trends",
    "subject-trends",
    "gates",
    "gate",
    "compare",
    "compare-tools",
    "compare-matrix",
    "compare-cases",
)

RULES = {
    **{f"reports:{name}": Rule(Role.VIEWER) for name in (*PAGES, *DOWNLOADS)},
    "reports:badge-change": Rule(Role.ADJUDICATOR),
    **{
        f"reports:{name}": Rule(Role.REVIEWER)
        for name in ("dispute", "suspect-dispute", "case-tag", "case-note", "thumb")
    },
    **{f"reports-api:{name}": Rule(Role.VIEWER) for name in INTERFACE},
    "reports-api:run-gates": Rule(Role.VIEWER, Role.ADJUDICATOR),
    # Its address is a secret of its own, which an adjudicator makes and takes back.
    "badges:badge": Rule(Audience.ANYONE),
}

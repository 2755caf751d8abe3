"""Work out why conversations ended, in words."""

from __future__ import annotations

from collections.abc import Mapping

from toolevals.agents.loop import End

# How a trial ended that was not begun because the run had spent its budget.
BUDGET = "budget"

# Where the conversation itself does not show it.
ENDINGS: Mapping[str, str] = {
    End.CALLS: "The conversation ended with these calls: nothing simulates their tools.",
    End.STEPS: "The conversation was ended at the run's cap on turns.",
    End.LOOP: "The conversation was ended because one call was repeated.",
    End.ERRORS: "The conversation was ended after too many failing tools in succession.",
    "broken": "The agent broke off by itself.",
    BUDGET: "The conversation was not begun: the run had spent its budget.",
}

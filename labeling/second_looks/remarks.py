"""Tell what reviewers said after seeing an agent's proposal, for the people who decide.

Unnamed, in an order that says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from labeling.expectations.wording import ExpectationWords, expectation_words
from labeling.models import Revision, SecondLook
from toolevals.grading.values.canonical import canonical
from toolevals.workspace.models import Role, User


@dataclass(frozen=True, slots=True)
class LookRemark:
    """One reviewer went over to an expectation after seeing it proposed, and perhaps said why."""

    expectation: dict[str, Any]
    remark: str

    @property
    def words(self) -> ExpectationWords:
        return expectation_words(self.expectation)


def second_look_remarks(revision: Revision, user: User, role: Role) -> list[LookRemark]:
    """Return the second looks that differ from their labels, for who may compare the labels of a revision."""
    looks = SecondLook.objects.remarks_on(revision, user, role)
    remarks = [LookRemark(look.proposal.expectation, look.remark) for look in looks]
    return sorted(remarks, key=lambda one: canonical([one.expectation, one.remark]))

"""Says what becomes of the rows that name a person once the person is deleted: a lower room does not know them all.

`toolevals.workspace.people.rows` reads these. A column that points to a person and has no rule stops every deletion.
"""

from __future__ import annotations

from typing import Final

# The row goes: it is the person's alone.
_DELETED: Final = (
    "account.emailaddress:user",
    "labeling.draft:user",
    "labeling.keybindings:user",
    "labeling.savedview:user",
    "mfa.authenticator:user",
    "socialaccount.socialaccount:user",
    "usersessions.usersession:user",
    "workspace.apitoken:user",
    "workspace.delivery:user",
    "workspace.idempotencykey:user",
    "workspace.membership:user",
    "workspace.mention:person",
    "workspace.signinaddress:user",
    "workspace.visit:user",
)
# The row stays and names no one: it waits for someone else.
_NULLED: Final = (
    "labeling.dispute:assignee",
    "labeling.labelbatch:owner",
    "labeling.labelslot:assignee",
    "reports.issue:owner",
)
# The row stays under the pseudonym: what was done and decided, and who has read what, which keeps labels blind.
_KEPT: Final = (
    "labeling.adjudication:adjudicator",
    "labeling.calibrationanswer:reviewer",
    "labeling.calibrationround:actor",
    "labeling.comment:asker",
    "labeling.comment:author",
    "labeling.dataset:deleted_by",
    "labeling.datasetversion:actor",
    "labeling.dispute:actor",
    "labeling.feedback:reviewer",
    "labeling.gold:actor",
    "labeling.guidelineversion:actor",
    "labeling.label:reviewer",
    "labeling.labelslot:reviewer",
    "labeling.lookplan:actor",
    "labeling.proposedexample:actor",
    "labeling.questionview:user",
    "labeling.secondlook:reviewer",
    "labeling.skip:reviewer",
    "labeling.sparelabel:reviewer",
    "registry.policyversion:created_by",
    "registry.registry:deleted_by",
    "registry.registryversion:actor",
    "registry.toolsource:actor",
    "reports.dialectreading:actor",
    "reports.gatebadge:actor",
    "reports.gatepreview:actor",
    "reports.heldgate:actor",
    "reports.issueevent:actor",
    "reports.namedgate:actor",
    "reports.policyrates:actor",
    "reports.publicscore:actor",
    "reports.publicscore:ended_by",
    "reports.refusalmark:person",
    "runs.casenote:actor",
    "runs.casetag:actor",
    "runs.datasetsimulator:actor",
    "runs.driftcheck:actor",
    "runs.grading:actor",
    "runs.judge:actor",
    "runs.judgecalibration:actor",
    "runs.probecheck:actor",
    "runs.rating:rater",
    "runs.reading:reader",
    "runs.rereading:actor",
    "runs.rubric:actor",
    "runs.run:actor",
    "runs.run:deleted_by",
    "runs.simulator:actor",
    "runs.thumb:person",
    "runs.tryout:actor",
    "traces.promotion:actor",
    "traces.promotionschedule:actor",
    "traces.tracejudge:actor",
    "traces.tracepolicy:actor",
    "workspace.auditentry:actor",
    "workspace.installationsetting:actor",
    "workspace.invitation:actor",
    "workspace.job:actor",
    "workspace.mention:actor",
    "workspace.project:deleted_by",
    "workspace.secret:actor",
    "workspace.upload:user",
    "workspace.webhook:actor",
)
PERSON_ROWS: Final = (
    dict.fromkeys(_DELETED, "deleted") | dict.fromkeys(_NULLED, "nulled") | dict.fromkeys(_KEPT, "kept")
)
# Columns into which the application itself has written people's names or addresses: whole texts, or whole texts within
# documents. The pseudonym takes their place. What people wrote themselves is not among them.
PERSON_TEXTS: Final = (
    "labeling.comment:external_author",
    "labeling.label:external_author",
    "labeling.lintreport:document",
    "reports.issueevent:detail",
    "workspace.auditentry:detail",
    "workspace.idempotencykey:answer",
    "workspace.invitation:email",
    "workspace.job:report",
)
# What no export holds: it signs in, signs, or opens what is sealed.
SECRET_COLUMNS: Final = (
    "account.emailconfirmation:key",
    "mfa.authenticator:data",
    "socialaccount.socialapp:secret",
    "socialaccount.socialtoken:token",
    "socialaccount.socialtoken:token_secret",
    "usersessions.usersession:session_key",
    "workspace.apitoken:digest",
    "workspace.idempotencykey:answer",
    "workspace.invitation:digest",
    "workspace.secret:sealed",
    "workspace.user:password",
    "workspace.webhook:sealed_secret",
    "workspace.webhook:sealed_url",
)

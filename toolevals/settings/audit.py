"""Says in words what acts are, and what they are done to: a lower room does not know the rows of a higher one."""

from __future__ import annotations

from typing import NamedTuple


class Thing(NamedTuple):
    """The thing that an act is done to: its noun, the field that names it, its address and the fields of that.

    Fields are paths from the row. The address takes the project first.
    """

    noun: str
    title: str = ""
    to: str = ""
    fields: tuple[str, ...] = ()


def _of_example(noun: str, path: str) -> Thing:
    """Return what belongs to an example: it is named and linked by that."""
    return Thing(noun, f"{path}__external_id", "labeling:example", (f"{path}__dataset__slug", f"{path}__pk"))


AUDIT_THINGS = {
    "labeling.dataset": Thing("dataset", "name", "labeling:dataset", ("slug",)),
    "labeling.example": Thing("example", "external_id", "labeling:example", ("dataset__slug", "pk")),
    "labeling.revision": _of_example("example", "example"),
    "labeling.labelbatch": Thing("batch", "name", "labeling:batch", ("dataset__slug", "pk")),
    "labeling.datasetversion": Thing(
        "version", "dataset__name", "labeling:version-examples", ("dataset__slug", "number")
    ),
    "labeling.labelslot": _of_example("example", "revision__example"),
    "labeling.label": _of_example("example", "revision__example"),
    "labeling.sparelabel": _of_example("example", "revision__example"),
    "labeling.skip": _of_example("example", "revision__example"),
    "labeling.comment": _of_example("example", "revision__example"),
    "labeling.adjudication": _of_example("example", "revision__example"),
    "labeling.gold": _of_example("example", "revision__example"),
    "labeling.dispute": _of_example("example", "revision__example"),
    "labeling.secondlook": _of_example("example", "revision__example"),
    "labeling.calibrationround": Thing("calibration round", "name", "labeling:calibration", ("dataset__slug", "pk")),
    "runs.run": Thing("run", "number", "reports:run", ("number",)),
    "registry.registry": Thing("tool registry", "name", "registry:registry", ("slug",)),
    "registry.registryversion": Thing("tools", "registry__name", "registry:version", ("registry__slug", "number")),
    "registry.policy": Thing("policy", "name", "reports:policy", ("slug",)),
    "runs.judge": Thing("judge", "name", "runs:judge", ("pk",)),
    "workspace.job": Thing("job", "title", "workspace:job", ("pk",)),
    "workspace.project": Thing("project", "name", "workspace:project"),
    "workspace.membership": Thing("member", "user__name"),
    "workspace.user": Thing("person", "name"),
    "workspace.apitoken": Thing("token", "name"),
    "workspace.secret": Thing("secret", "name"),
    "workspace.webhook": Thing("webhook", "name", "workspace:webhook", ("pk",)),
    "workspace.installationsetting": Thing("setting", "name"),
    "workspace.invitation": Thing("invitation", "email"),
}

# Acts whose sentence is not made of the noun and the verb of their name; what they are done to follows.
AUDIT_PHRASES = {
    "adjudication_decide": "decided",
    "adjudication_withdraw": "undid the decision on",
    "bundle_start": "started a download of",
    "calibration_answer": "answered an example of",
    "case_rate": "rated a case of",
    "case_read": "read a case of",
    "comment_add": "commented on",
    "dialects_start": "started other evaluators on",
    "dispute_assign": "assigned a dispute of",
    "dispute_open": "disputed",
    "dispute_settle": "settled a dispute of",
    "drift_begin": "started a drift check of",
    "errored_ask_again": "retried the errored cases of",
    "example_tag": "set a stratum of",
    "example_decide_by": "chose the pass rule of",
    "examples_import": "imported examples into",
    "export_start": "exported",
    "feedback_mark_seen": "marked the feedback as read in",
    "gold_restore": "restored earlier gold of",
    "guideline_publish": "published a guideline of",
    "import_publish": "published an import into",
    "import_start": "started an import into",
    "installation_set": "changed the installation's",
    "keys_set": "set their keys in",
    "label_keep": "saved a spare label of",
    "label_submit": "labelled",
    "label_withdraw": "undid a label of",
    "labelling_set": "set the labelling of",
    "lint_start": "started lint of",
    "mails_choose": "chose e-mails as",
    "member_remove": "removed",
    "member_set": "set the role of",
    "order_set": "ordered the queue of",
    "overlap_apply": "changed the labels per example in",
    "password_change": "changed the password of",
    "password_reset": "set a new password by e-mail for",
    "provider_link": "linked single sign-on with",
    "policy_set_registry": "chose the tools of",
    "project_export_start": "started an export of",
    "proposals_drop": "dropped drafts of edge cases of",
    "proposals_make": "made drafts of edge cases of",
    "question_open": "opened a question about",
    "quotas_set": "set the quotas of",
    "revision_reopen": "re-queued",
    "revision_settle": "compared the labels of",
    "sample_password_renew": "renewed the password of",
    "second_look_answer": "took a second look at",
    "second_step_add": "added a second step of",
    "second_step_remove": "removed a second step of",
    "second_step_renew": "renewed the recovery codes of",
    "second_steps_end": "ended the second steps of",
    "second_looks_begin": "started second looks at",
    "second_looks_end": "ended second looks at",
    "skip_undo": "resumed",
    "slot_claim": "claimed",
    "slot_release": "released",
    "slot_skip": "skipped",
    "slots_assign": "assigned examples of",
    "slots_restore": "undid an assignment in",
    "slots_unassign": "unassigned examples of",
    "strata_show": "chose the strata that reviewers see of",
    "suggestions_store": "stored suggestions for",
    "thumb_give": "gave a thumb to",
    "today_start": "ran the current agent in",
    "unscored_ask": "retried the unscored cases of",
    "webhook_renew": "renewed the secret of",
    "webhook_switch": "switched",
    "webhook_test": "sent a test to",
}
# The past of the last word of an act's name, where "-ed" or "-d" does not make it.
AUDIT_PAST = {
    "begin": "started",
    "cancel": "cancelled",
    "choose": "chose",
    "drop": "dropped",
    "ensure": "added",
    "forget": "forgot",
    "freeze": "froze",
    "give": "gave",
    "hold": "held",
    "make": "made",
    "now": "deleted permanently at once",
    "retry": "retried",
    "set": "set",
    "undo": "undid",
    "withdraw": "withdrew",
}

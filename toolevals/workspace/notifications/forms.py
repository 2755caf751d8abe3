"""Define the forms for webhooks and for one's e-mails."""

from __future__ import annotations

from typing import Any

from django import forms

from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.models import MAIL_KINDS, WEBHOOK_KINDS, EventKind, Webhook, WebhookForm

_WEBHOOK_WORDS = {EventKind.MENTIONED: "a member is mentioned"}


class WebhookSettings(PlainForm):
    """A webhook, new or changed."""

    name = forms.CharField(max_length=80, help_text="What it is for, such as “alerts”.")
    url = forms.CharField(
        label="Address",
        max_length=2_000,
        widget=forms.TextInput({"type": "url", "autocomplete": "off", "spellcheck": "false"}),
        help_text="An https:// or http:// URL. It is not shown again.",
    )
    form = forms.ChoiceField(
        label="Sends", choices=[("json", "events as JSON"), ("slack", "texts that Slack takes")], initial="json"
    )
    kinds = forms.MultipleChoiceField(
        label="Tells when",
        choices=[(kind.value, _WEBHOOK_WORDS.get(kind, kind.label)) for kind in WEBHOOK_KINDS],
        widget=forms.CheckboxSelectMultiple({"class": "choices"}),
    )

    def __init__(self, *args: Any, webhook: Webhook | None = None, **kwargs: Any) -> None:
        known = {"name": webhook.name, "form": webhook.form, "kinds": webhook.kinds} if webhook else {}
        kwargs.setdefault("initial", known or {"form": WebhookForm.JSON, "kinds": list(FIRST_KINDS)})
        super().__init__(*args, **kwargs)
        if webhook is not None:
            self.fields["url"].required = False
            self.fields["url"].help_text = f"Empty: it stays at {webhook.origin}."


class MailSettings(PlainForm):
    """The events of one project that a person gets by e-mail."""

    kinds = forms.MultipleChoiceField(
        label="Write to me when",
        required=False,
        choices=[(kind.value, kind.label) for kind in MAIL_KINDS],
        widget=forms.CheckboxSelectMultiple({"class": "choices"}),
    )


# Ticked for a new webhook: what someone should look at.
FIRST_KINDS = (EventKind.RUN_FINISHED, EventKind.RUN_FAILED, EventKind.GATE_FAILED)

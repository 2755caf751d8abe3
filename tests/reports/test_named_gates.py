"""Gates that a project keeps: made by form or document, previewed on the newest runs, held by name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from reports.gates.form import GateForm, GateText, editor_of
from reports.gates.services import GateRequest, gate_decide, gate_hold, named_gate_delete, named_gate_save
from reports.models import GatePreview, HeldGate, NamedGate
from tests.reports.building import cases_of
from tests.reports.gate_building import checks, rate
from tests.reports.gate_pages import CELLS, address, decide, sent, writer
from tests.reports.reading import text
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.results import gate_metrics
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.yaml_documents import load_yaml, yaml_text
from toolevals.runs.models import Run
from toolevals.workspace.jobs.leases import batch_work
from toolevals.workspace.models import AuditEntry, Batch

__all__ = ["address", "writer"]

pytestmark = pytest.mark.django_db
DOCUMENT: dict[str, Any] = {
    "bounds": [
        {"metric": "selection", "min": 0.95, "per_stratum": "bucket", "overrides": {"refusal": 0.99}},
        {"metric": "selection", "statistic": "f1", "min": 0.9, "per": "tool"},
        {"metric": "judged:groundedness", "min": 0.8, "on_fail": "warn", "decide_by": "interval"},
        {"metric": "recovery", "min": 0.9, "per": "failure", "where": {"difficulty": "hard = very"}},
        {"metric": "mine", "max": 1},
    ],
    "assertions": ["tool_name_f1.score >= 0.95 for at_least 95% of cases"],
    "thresholds": {"overrides": {"outcome": 0.5}},
    "regressions": [
        {"rule": "paired", "metrics": ["selection", "arguments"], "alpha": 0.01},
        {"rule": "cases", "metrics": ["selection"], "per": "tool", "overrides": {"search_orders": 1}, "most": 2},
    ],
    "groups": [{"name": "mine", "metrics": ["selection", "arguments"]}],
    "consistency": [{"metric": "outcome", "k": 4, "min": 0.6}],
    "unscored": {"minimum_share": 0.98, "minimum_count": 30},
}


def test_the_form_gives_back_every_rule_of_a_document():
    form = editor_of(DOCUMENT, gate_metrics(), name="release", baseline="branch:main")
    assert isinstance(form, GateForm)
    assert form.shows(DOCUMENT)
    assert [len(rows) for rows in form.rows.values()] == [5, 2, 1]
    # A value that no line of a field can hold: the document is edited as text.
    odd = {"bounds": [{"metric": "outcome", "min": 0.5, "where": {"bucket": " two\nlines"}}]}
    assert isinstance(editor_of(odd, gate_metrics()), GateText)


def test_the_metrics_come_from_the_tables_of_the_core():
    names = {each.name for each in gate_metrics({"tone": "Tone"})}
    assert {"outcome", "selection", "tool_name_match", "tool_name_f1", "judged:tone"} <= names
    for name in names:
        read_gate({"bounds": [{"metric": name, "min": 0.5}]})


@pytest.mark.parametrize("text", ["1e3", "yes", "0o17", "a: b", "~", "2024-05-01", "Straße", ""])
def test_yaml_text_reads_back_as_it_was(text):
    assert load_yaml(yaml_text({"a": [text, {"b": 1.5}]})) == {"a": [text, {"b": 1.5}]}


def test_a_gate_is_made_edited_renamed_and_deleted_on_pages(writer, project, address):
    answer = writer.post(address("named-gate-new"), sent(compared="branch:", of="main"))
    assert answer.headers["Location"] == address("named-gate", "release")
    kept = NamedGate.objects.get()
    assert (kept.project, kept.baseline, read_gate(kept.gate)) == (
        project,
        "branch:main",
        read_gate(rate("selection", 0.9)),
    )
    assert "selection" in text(writer.get(address("named-gate", "release")))
    assert address("named-gate", "release") in text(writer.get(address("gates")))
    edit = address("named-gate-edit", "release")
    assert 'value="0.9"' in text(writer.get(edit))
    assert writer.post(edit, sent(name="weekly")).status_code == 302
    assert [each.name for each in NamedGate.objects.all()] == ["weekly"]
    assert NamedGate.objects.get().pk == kept.pk
    writer.post(address("named-gate-delete", "weekly"))
    assert not NamedGate.objects.exists()
    verbs = AuditEntry.objects.filter(target_id=kept.pk).order_by("id").values_list("verb", flat=True)
    assert list(verbs) == ["named_gate_save", "named_gate_save", "named_gate_delete"]


def test_a_name_is_taken_once(project):
    named_gate_save(project=project, actor=None, name="a", gate=rate("selection", 0.9))
    other = named_gate_save(project=project, actor=None, name="b", gate=rate("selection", 0.9))
    with pytest.raises(InvalidDocument, match="another gate"):
        named_gate_save(project=project, actor=None, name="a", gate=other.gate, was="b")
    with pytest.raises(InvalidDocument, match="another gate"):
        named_gate_save(project=project, actor=None, name="a", gate=other.gate)
    named_gate_delete(gate=other, actor=None)
    assert [each.name for each in NamedGate.objects.all()] == ["a"]


@pytest.mark.parametrize(
    ("changed", "form", "field", "words"),
    [
        ({"bounds-0-min": "95"}, "bounds", "min", "not a percentage"),
        ({"bounds-0-min": ""}, "bounds", "__all__", "needs min, max or both"),
        ({"bounds-0-overrides": "pay"}, "bounds", "overrides", "write it as name = value"),
        ({"bounds-0-overrides": "pay = 0.5"}, "bounds", "overrides", "needs per or per_stratum"),
        ({"bounds-0-statistic": "f1"}, "bounds", "__all__", "each tool's own"),
        ({"name": "two words"}, "head", "name", "letters, digits"),
        ({"compared": "run", "of": "seven"}, "head", "of", "is not a number of a run"),
        ({"compared": "branch:"}, "head", "of", "enter a branch"),
        ({"more": "bounds: []"}, "more", "more", "have rows above"),
        ({"more": "a: [1"}, "more", "more", "not YAML at line"),
        ({"more": 'assertions: ["outcome.score > for"]'}, "more", "more", "/assertions/0"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(writer, address, changed, form, field, words):
    answer = writer.post(address("named-gate-new"), sent(**changed))
    assert answer.status_code == 422
    editor = answer.context["editor"]
    shown = editor.rows["bounds"][0] if form == "bounds" else getattr(editor, form)
    assert words in " ".join(shown.errors[field])
    assert not NamedGate.objects.exists()
    # What was typed is still there.
    assert 'name="bounds-0-metric"' in text(answer)


def test_rows_are_added_and_removed_with_what_was_typed(writer, address):
    here = address("named-gate-new")
    page = writer.post(here, sent(act="add:bounds", **{"bounds-0-min": "not yet"}))
    rows = page.context["editor"].rows["bounds"]
    assert [row["min"].value() for row in rows] == ["not yet", 0.9]
    page = writer.post(here, sent(act="drop:bounds:0"))
    assert page.context["editor"].rows["bounds"] == []
    page = writer.post(here, sent(act="add:regressions"))
    assert len(page.context["editor"].rows["regressions"]) == 1
    assert not NamedGate.objects.exists()


def test_a_document_is_read_into_the_form_and_downloaded_again(writer, address):
    here = address("named-gate-new")
    file = SimpleUploadedFile("gate.yaml", yaml_text(DOCUMENT).encode())
    page = writer.post(here, {"act": "read", "name": "release", "file": file})
    assert len(page.context["editor"].rows["bounds"]) == 5
    page = writer.post(here, {"act": "read", "document": '{"bounds": [{"metric": "outcome", "min": 2}]}'})
    assert page.status_code == 422
    assert "/bounds/0/min" in text(page)
    assert writer.post(here, {"as": "text", "act": "save", "name": "release", "document": json.dumps(DOCUMENT)})
    assert NamedGate.objects.get().gate == DOCUMENT
    assert writer.get(address("named-gate-json", "release")).json() == DOCUMENT
    yaml = writer.get(address("named-gate-yaml", "release"))
    assert load_yaml(yaml.content.decode()) == DOCUMENT
    assert 'filename="release.yaml"' in yaml.headers["Content-Disposition"]


def test_a_run_is_held_against_a_kept_gate(writer, build, address, project):
    one = build.grading(cases_of(CELLS))
    earlier, run = one.run, build.again(one, [[case] for case in cases_of(CELLS)]).run
    document = rate("selection", 0.5) | {"regressions": [{"rule": "cases", "metrics": ["selection"]}]}
    named_gate_save(project=project, actor=None, name="release", gate=document, baseline=str(earlier.number))
    assert "release" in text(writer.get(address("run-gates", run.number)))
    answer = writer.post(address("run-gate-hold", run.number), {"name": "release"})
    held = HeldGate.objects.get()
    assert answer.headers["Location"] == address("gate", held.pk)
    assert (held.name, held.gate) == ("release", document)
    assert held.baseline is not None
    assert held.baseline.run_id == earlier.pk
    batch_work(str(Batch.objects.get(job=held.job).pk), gate_decide)
    held.refresh_from_db()
    assert {check.status for check in checks(held)} == {"passed"}
    refused = writer.post(address("run-gate-hold", run.number), {"name": "other"})
    assert refused.status_code == 422
    assert "is the name of no gate" in text(refused)
    assert address("gate", held.pk) in text(writer.get(address("named-gate", "release")))


def test_a_request_names_a_gate_or_holds_one(build):
    run = Run.objects.get(pk=build.grading(cases_of(CELLS)).run.pk)
    for request, pointer in (
        (GateRequest(), "/gate"),
        (GateRequest(rate("selection", 0.5), name="release"), "/name"),
        (GateRequest(name="release"), "/name"),
    ):
        with pytest.raises(InvalidDocument) as refused:
            gate_hold(run=run, actor=None, request=request)
        assert refused.value.problems[0].pointer == pointer


def test_the_interface_keeps_renames_deletes_and_previews(writer, build, project):
    def at(name: str, *args: object) -> str:
        return reverse(f"reports-api:{name}", args=[project.slug, *args])

    asked: dict[str, Any] = {"content_type": "application/json"}
    gate = rate("selection", 0.96)
    assert writer.put(at("named-gate", "release"), {"gate": gate}, **asked).status_code == 201
    answer = writer.put(
        at("named-gate", "release"), {"gate": gate, "name": "weekly", "baseline": "last-passing"}, **asked
    )
    assert (answer.status_code, answer.json()["name"]) == (200, "weekly")
    refused = writer.put(at("named-gate", "weekly"), {"gate": {"bounds": [{"metric": "outcome"}]}}, **asked)
    assert refused.status_code == 422
    assert "/gate/bounds/0" in refused.content.decode()
    assert [each["name"] for each in writer.get(at("named-gates")).json()["results"]] == ["weekly"]
    build.grading(cases_of(CELLS))
    begun = writer.post(at("gate-previews"), {"name": "weekly"}, **asked)
    assert begun.status_code == 202
    decide(GatePreview.objects.get())
    shown = writer.get(at("gate-preview", begun.json()["preview"])).json()
    assert [(each["status"], each["result"]["status"]) for each in shown["runs"]] == [("failed", "failed")]
    assert writer.delete(at("named-gate", "weekly")).status_code == 204
    assert writer.get(at("named-gate", "weekly")).status_code == 404


def test_a_viewer_reads_and_writes_nothing(client, viewer, project, address):
    named_gate_save(project=project, actor=None, name="release", gate=rate("selection", 0.9))
    client.force_login(viewer)
    html = text(client.get(address("named-gate", "release")))
    assert "Edit the gate" not in html
    assert "New gate" not in text(client.get(address("gates")))
    assert client.get(address("named-gate-edit", "release")).status_code == 403
    assert client.post(address("named-gate-delete", "release")).status_code == 403

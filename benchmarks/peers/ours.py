"""Labels by this project's REST interface in one process on SQLite, which does the batches of jobs, too; and grades."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any

from benchmarks._measuring import imported, prepared
from benchmarks.labeling import CALL, SAID

VERSION, TITLE, LINES = "this checkout", "toolevals", True
BASE = "/api/v1/projects/bench"


def graders() -> dict[str, Any]:
    """Return a grader of entries compiled before, and one that compiles them."""
    from toolevals.grading.engine.grading import CompiledCase, compile_case, grade_calls
    from toolevals.grading.reading.bfcl import bfcl_example
    from toolevals.grading.reading.parsing import call_in

    def read(row: Any, calls: Any) -> Any:
        question = {"id": "entry", "question": [], "function": row["functions"]}
        return bfcl_example(question, {"ground_truth": row["gold"]}, row["category"]), calls

    def compiled(row: Any, calls: Any) -> Any:
        example, _ = read(row, calls)
        return compile_case(example.expectation, example.tools), calls

    def passes(case: CompiledCase, calls: Any) -> bool:
        return grade_calls(case, [call_in(call) for call in calls]).statuses["outcome"] == "passed"

    def once(cases: Any) -> int:
        return sum(passes(compile_case(each.expectation, each.tools), calls) for each, calls in cases)

    return {"": (compiled, lambda cases: sum(passes(*case) for case in cases)), "_once": (read, once)}


def labeller(folder: Path) -> Any:
    """Return what labels with it."""
    os.environ.update(DJANGO_SETTINGS_MODULE="toolevals.settings", TOOLEVALS_DATA_DIR=str(folder), TOOLEVALS_DEBUG="")
    return _Toolevals()


class _Toolevals:
    def __init__(self) -> None:
        self.project, self.tools, people = prepared()
        self.people = people[:2]
        from django.test import Client

        from toolevals.workspace.models import Role
        from toolevals.workspace.tokens.services import token_create

        user = self.people[0]
        _, secret = token_create(project=self.project, actor=None, user=user, name="bench", role=Role.REVIEWER)
        self.client: Any = Client(SERVER_NAME="localhost", headers={"Authorization": f"Bearer {secret}"})
        self.number = 0
        self.dataset: Any = None
        self.files: list[bytes] = []

    def make(self, wanted: int) -> int:
        # The number of people for an example is two unless said otherwise, and the import makes the dataset.
        assert wanted == 2
        self.number += 1
        return self.number

    def take_in(self, path: str) -> int:
        content = Path(path).read_bytes()
        self.dataset = imported(self.project, self.tools, f"support-{self.number}", content)
        return int(self.dataset.examples.count())

    def label(self, times: int) -> int:
        return sum(self._labelled() for _ in range(times))

    def annotate(self) -> int:
        """Write two labels of each example and the gold on which they agree: only what is resolved leaves a dataset."""
        from labeling.models import Gold, Label, LabelSlot, Revision, SlotState

        Label.objects.filter(slot__dataset=self.dataset).delete()
        LabelSlot.objects.filter(dataset=self.dataset).delete()
        revisions = list(Revision.objects.filter(example__dataset=self.dataset, gold=None))
        state = {"state": SlotState.SUBMITTED, "priority": None, "dataset": self.dataset}
        slots = [
            LabelSlot(revision=revision, number=number, reviewer=person, **state)
            for revision in revisions
            for number, person in enumerate(self.people, 1)
        ]
        LabelSlot.objects.bulk_create(slots, batch_size=1000)
        labels = [Label(slot=slot, revision=slot.revision, reviewer=slot.reviewer, **SAID) for slot in slots]
        Label.objects.bulk_create(labels, batch_size=1000)
        made = [Gold(revision=each, expectation=CALL, rationale="It asks.", source="agreed") for each in revisions]
        Gold.objects.bulk_create(made, batch_size=1000)
        for revision, gold in zip(revisions, made, strict=True):
            revision.gold, revision.resolution = gold, "resolved"
        Revision.objects.bulk_update(revisions, ["gold", "resolution"], batch_size=500)
        return len(labels)

    def export(self) -> int:
        """Write both files: the examples with their gold, and a row for each label."""
        from labeling.exports import Outcome, Selection, format_named

        self.files = [
            b"".join(format_named(name).write(Selection(self.dataset), Outcome())) for name in ("jsonl", "labels_csv")
        ]
        return sum(map(len, self.files))

    def exported(self) -> list[int]:
        examples, labels = self.files
        rows = csv.DictReader(io.StringIO(labels.decode()))
        return [len(examples.splitlines()), sum(1 for row in rows if "tool_1" in str(row))]

    def _labelled(self) -> bool:
        claimed = self._asked(self.client.post(f"{BASE}/claims/", {"dataset": self.dataset.slug}, "application/json"))
        if claimed is None:
            return False
        self._asked(self.client.post(f"{BASE}/claims/{claimed['id']}/label/", SAID, "application/json"))
        return True

    def _asked(self, response: Any) -> Any:
        if response.status_code >= 400:
            raise RuntimeError(f"{response.status_code} {response.content[:300]!r}")
        return None if response.status_code == 204 else response.json()

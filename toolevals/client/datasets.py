"""Gives datasets: their examples and versions, what is imported into them, and runs of predictions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from toolevals.client.files import write_file
from toolevals.client.rows import Rows
from toolevals.client.runs import Run
from toolevals.client.work import ProjectConnection
from toolevals.json_types import JsonMapping, JsonObject


@dataclass(frozen=True, slots=True)
class Version:
    """A frozen version of a dataset. `size` counts its examples."""

    number: int
    size: int
    note: str
    tags: tuple[str, ...]

    @classmethod
    def of(cls, row: JsonMapping) -> Version:
        """Return what the server says of a version."""
        return cls(row["number"], row["size"], row["note"], tuple(row["tags"]))


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset. `size` and `with_gold` count examples: None of a large one that was not counted yet."""

    project: ProjectConnection = field(repr=False)
    slug: str
    name: str
    size: int | None
    with_gold: int | None
    row: JsonMapping = field(repr=False)

    @classmethod
    def of(cls, project: ProjectConnection, row: JsonMapping) -> Dataset:
        """Return what the server says of a dataset."""
        return cls(project, row["slug"], row["name"], row.get("size"), row.get("with_gold"), row)

    @property
    def page(self) -> str:
        """The address of its page."""
        return self.project.page(f"datasets/{self.slug}/")

    def import_file(self, file: Path | str, source: str = "jsonl", **options: object) -> JsonObject:
        """Import examples, wait for it, and return the report: how many are new, what was read how.

        Raises ServerError with the lines that are wrong; nothing of the file is imported then.
        """
        fields = {"source": source} | ({"options": json.dumps(options)} if options else {})
        job = self.project.upload(f"datasets/{self.slug}/imports/", Path(file), fields)
        report: JsonObject = self.project.wait(job)["report"]
        return report

    def freeze(self, note: str = "", *, misfits_reason: str = "") -> Version:
        """Freeze what it holds now. Raises ServerError where gold breaks a schema, and no reason is given."""
        body = {"note": note, "misfits_reason": misfits_reason}
        return Version.of(self.project.request("POST", f"datasets/{self.slug}/versions/", json=body))

    def versions(self) -> Rows[Version]:
        """Return its versions, the newest first."""
        return Rows(lambda: self.project.pages(f"datasets/{self.slug}/versions/"), Version.of)

    def examples(self, version: str = "") -> Rows[JsonObject]:
        """Return its examples with the gold in force, or those of a frozen version, as documents of the schema."""

        def fetch() -> Iterator[JsonObject]:
            rest = b""
            for part in self.project.download(self._export("jsonl", version)):
                *lines, rest = (rest + part).split(b"\n")
                yield from map(json.loads, lines)

        return Rows(fetch, dict)

    def export(self, file: Path | str, format: str = "jsonl", version: str = "") -> Path:  # noqa: A002 - the option's name
        """Write it, or a frozen version, to a file, and return that. Raises ServerError and OSError."""
        return write_file(self.project.download(self._export(format, version)), Path(file))

    def run_predictions(self, file: Path | str, *, name: str, version: str = "", **more: str) -> Run:
        """Upload the predictions of an agent of this name, wait for the grades, and return the run. Raises ServerError.

        `more` is what else the REST interface takes: `experiment`, `model`, `prompt_version`, `commit`, `trials`.
        """
        dataset = f"{self.slug}@{version}" if version else self.slug
        fields = {"experiment": name, "dataset": dataset, "name": name, **more}
        started = self.project.upload("runs/predictions/", Path(file), fields)
        self.project.wait(started["job"])
        return Run.of(self.project, self.project.request("GET", f"runs/{started['run']['number']}/"))

    def _export(self, format: str, version: str) -> str:  # noqa: A002
        part = f"versions/{quote(version, safe='')}/" if version else ""
        return f"datasets/{self.slug}/{part}export/?as={format.replace('-', '_')}"

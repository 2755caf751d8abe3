"""Gives a project on a server: its datasets and runs."""

from __future__ import annotations

import os
from typing import Self
from urllib.parse import quote

from toolevals.client.datasets import Dataset
from toolevals.client.rows import Rows
from toolevals.client.runs import Run
from toolevals.client.work import ProjectConnection
from toolevals.server_errors import ServerSettingsError


class Project(ProjectConnection):
    """One project on a server, as its token sees it."""

    @classmethod
    def from_environment(cls, *, timeout: float = 3600) -> Self:
        """Return the project that TOOLEVALS_URL, TOOLEVALS_PROJECT and TOOLEVALS_TOKEN name.

        Raises ServerSettingsError where one of them is not set.
        """
        said = {name: os.environ.get(f"TOOLEVALS_{name}", "") for name in ("URL", "PROJECT", "TOKEN")}
        if missing := [f"TOOLEVALS_{name}" for name, value in said.items() if not value]:
            raise ServerSettingsError(f"not set: {', '.join(missing)}")
        return cls(server=said["URL"], project=said["PROJECT"], token=said["TOKEN"], timeout=timeout)

    def datasets(self) -> Rows[Dataset]:
        """Return its datasets, the newest first."""
        return Rows(lambda: self.pages("datasets/"), lambda row: Dataset.of(self, row))

    def dataset(self, slug: str) -> Dataset:
        """Return the dataset of this short name. Raises ServerSettingsError where there is none."""
        return Dataset.of(self, self.request("GET", f"datasets/{quote(slug, safe='')}/"))

    def make_dataset(self, slug: str, name: str = "", **more: object) -> Dataset:
        """Make a dataset and return it. `more` is what else the REST interface takes. Raises ServerError."""
        return Dataset.of(self, self.request("POST", "datasets/", json={"slug": slug, "name": name or slug, **more}))

    def runs(self, experiment: str = "") -> Rows[Run]:
        """Return its runs, or those of one experiment, the newest first."""
        asked = {"experiment": experiment} if experiment else {}
        return Rows(lambda: self.pages("runs/", **asked), lambda row: Run.of(self, row))

    def run(self, number: int) -> Run:
        """Return the run of this number. Raises ServerSettingsError where there is none."""
        return Run.of(self, self.request("GET", f"runs/{number}/"))

"""Lists the verbs of the `toolevals` command: where each is, and what it does in a few words."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from importlib import import_module
from typing import Any, NamedTuple


class Verb(NamedTuple):
    """A module with `add_parser(verbs)`, and what `--help` says of the verb."""

    module: str
    help: str


VERBS = {
    "serve": Verb("serve", "start the web server and a worker, with a sample project; Ctrl-C stops both"),
    "grade": Verb("grade", "grade a JSONL file of examples with their predictions; no server needed"),
    "gate": Verb("gate", "check a run, or a local file, against required thresholds"),
    "login": Verb("login", "save a server URL and a project token"),
    "logout": Verb("login", "forget what login has kept"),
    "guard-mcp": Verb("guard_mcp.verb", "stand between an MCP client and a server, and keep both to a policy"),
    "mcp": Verb("mcp_stdio", "let a coding agent ask a project, as an MCP server over pipes"),
    "skill": Verb("skill", "write a skill into a checkout that teaches coding agents to measure"),
    "what": Verb("what", "detect a file's format and show what would be imported; no server needed"),
    "import": Verb("importing", "import tools or examples into a project"),
    "send": Verb("sending", "send recorded conversations to a server as traces"),
    "export": Verb("exporting", "write a dataset, or a table of a run, to a file"),
    "versions": Verb("versions", "list a dataset's frozen versions, freeze one, tag one"),
    "run": Verb("running", "evaluate an agent, the baseline, or uploaded predictions, over a dataset"),
    "compare": Verb("comparing", "compare two runs"),
    "retry": Verb("retry_failed", "re-run errored or failing cases of a run, or re-grade it"),
    "failing": Verb("retry_failed", "export the failing cases of a run"),
    "jobs": Verb("jobs", "list, pause, resume, cancel or retry jobs"),
    "delete": Verb("deleting", "move a dataset, a run, a registry or the project to the trash"),
    "trash": Verb("deleting", "list what was deleted and can be restored"),
    "restore": Verb("deleting", "restore a deleted item"),
    "destroy": Verb("deleting", "permanently delete an item in the trash"),
    "download": Verb("downloading", "fetch a public benchmark as files to import"),
    "create-owner": Verb("accounts", "create an installation owner account and a project"),
    "installation-owners": Verb("accounts", "list, add or remove owners of the installation"),
    "export-project": Verb("whole_project", "write a whole project to one file, on the server"),
    "people": Verb("people", "list, deactivate, reactivate, export or delete people"),
    "set-password": Verb("accounts", "give an account a new password"),
    "backup": Verb("backup", "write database, uploads and signing key to one file, also while the application runs"),
    "restore-backup": Verb("backup", "make the data folder from a backup"),
    "migrate-database": Verb("backup", "copy all rows from SQLite to an empty PostgreSQL database, and compare them"),
    "audit-export": Verb("audit", "write the audit log as JSON lines, on from where it stopped"),
    "doctor": Verb("doctor", "check this installation"),
    "completion": Verb("completion", "print a shell completion script"),
}

# What verbs were called before: they still work, with a notice.
OLD_VERBS = {"again": "retry"}


class Verbs:
    """The verbs of one parser. What is said of a verb comes from the table."""

    def __init__(self, root: argparse.ArgumentParser) -> None:
        self._added = root.add_subparsers(dest="verb", required=True, metavar="VERB")

    def add_parser(self, name: str, **options: Any) -> argparse.ArgumentParser:
        """Add a verb of the table and return its parser."""
        words = VERBS[name].help
        return self._added.add_parser(name, help=words, description=f"{words[:1].upper()}{words[1:]}.", **options)

    def load(self, names: Collection[str]) -> None:
        """Add every verb; those of these names with their options, whose modules are loaded for it."""
        for module in dict.fromkeys(VERBS[name].module for name in names):
            import_module(f"toolevals.cli.{module}").add_parser(self)
        for name in VERBS:
            if name not in self._added.choices:
                self.add_parser(name)

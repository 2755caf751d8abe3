"""Runs `toolevals skill`: writes a skill into a checkout that teaches coding agents to measure."""

from __future__ import annotations

import argparse
from pathlib import Path

from toolevals.cli.output import CommandError, Exit, say
from toolevals.cli.verbs import Verbs

_FILES = Path(__file__).with_name("skill_files")
# Where coding agents look for skills, below a checkout.
FOLDERS = {
    "claude": ".claude/skills",
    "codex": ".agents/skills",
    "cursor": ".cursor/skills",
}


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser("skill")
    parser.add_argument("folder", nargs="?", default=".", type=Path, help="the checkout (by default this folder)")
    parser.add_argument(
        "--for",
        dest="agent",
        choices=FOLDERS,
        default="claude",
        help="the coding agent that reads it (by default claude)",
    )
    parser.add_argument("--force", action="store_true", help="write over files that are other than ours")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the skill's files. Nothing is written where one of them would be lost."""
    if not arguments.folder.is_dir():
        raise CommandError(Exit.CONFIGURATION, f"{arguments.folder} is not a folder")
    target = arguments.folder / FOLDERS[arguments.agent] / "toolevals"
    files = {target / path.relative_to(_FILES): path.read_bytes() for path in sorted(_FILES.rglob("*.md"))}
    other = [path for path, content in files.items() if path.exists() and path.read_bytes() != content]
    if other and not arguments.force:
        words = f"{', '.join(map(str, other))}: is there and other than ours; --force writes over it"
        raise CommandError(Exit.CONFIGURATION, words)
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        say(str(path))
    return Exit.OK

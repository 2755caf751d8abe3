"""Runs `toolevals download`: writes public benchmarks, from the packages that publish them, as files to import."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from toolevals.agents.code.leaderboard_turns import FILES, SIMULATORS
from toolevals.agents.code.leaderboard_turns import PACKAGE as SOURCES
from toolevals.archives import UNREADABLE
from toolevals.cli.inputs import input_file
from toolevals.cli.output import CommandError, Exit, say
from toolevals.cli.verbs import Verbs
from toolevals.grading.dialects.leaderboard_turns import CATEGORIES as SEVERAL_TURNS
from toolevals.grading.reading.bfcl import CATEGORIES

PACKAGE = "bfcl-eval"
# The release that the graders are checked against.
RELEASE = "2026.3.23"
# Its wheel, as it was published.
SHA256 = "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a"
LICENCE = "Apache-2.0"
# No file of the benchmark comes near; one that does is not it.
MAX_BYTES = 100_000_000
_DATA = re.compile(r"bfcl_eval/data/(?P<answers>possible_answer/)?BFCL_v4_(?P<category>[a-z_]+)\.json")
_ABOUT = re.compile(r"bfcl_eval-(?P<release>[^/]+)\.dist-info/METADATA")


def add_parser(verbs: Verbs) -> None:
    """Add the verb and what can be downloaded."""
    parser = verbs.add_parser("download")
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    bfcl = kinds.add_parser("bfcl", help=f"the Berkeley Function-Calling Leaderboard, from the package {PACKAGE}")
    bfcl.add_argument("folder", type=Path, metavar="DIR", help="is made; files of these names in it are replaced")
    which = bfcl.add_mutually_exclusive_group()
    which.add_argument("--release", default=RELEASE, metavar="V", help="package release; default: %(default)s")
    which.add_argument("--wheel", type=Path, metavar="FILE", help="use a local wheel file; - reads standard input")
    bfcl.set_defaults(run=download_bfcl)


def download_bfcl(arguments: argparse.Namespace) -> int:
    """Write the benchmark's categories that can be graded, with their answers and the simulators that grade some."""
    with (
        tempfile.TemporaryDirectory() as folder,
        input_file(arguments.wheel or _fetched(arguments.release, Path(folder))) as wheel,
    ):
        written = _written(wheel, arguments.folder)
    if not written:
        raise CommandError(Exit.DATA, f"{wheel.name} holds no data of the benchmark")
    say(f"{len(written)} categories in {arguments.folder}; to import some of them:")
    say(f"toolevals import bfcl {arguments.folder} --categories {','.join(written[:2])} --dataset bfcl")
    if any(category in SEVERAL_TURNS for category in written):
        say("Conversations of several turns are not imported, but graded by state, from the benchmark's own results:")
        say(f"toolevals grade RESULTS --dialect bfcl --option simulators={arguments.folder}")
    return Exit.OK


def _fetched(release: str, folder: Path) -> Path:
    """Return the package's wheel as pip fetches it, with the index, proxies and certificates that pip is told of."""
    # Only a wheel: the source of a package would be run to be read.
    asked = ["pip", "download", "--no-deps", "--only-binary", ":all:", "--dest", str(folder), f"{PACKAGE}=={release}"]
    done = subprocess.run([sys.executable, "-m", *asked], capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise CommandError(
            Exit.UNREACHABLE,
            f"pip could not fetch {PACKAGE} {release}: {last}\nFetch it elsewhere and give --wheel FILE.",
        )
    return wheels[0]


def _require_unchanged(wheel: Path, names: Sequence[str]) -> str:
    """Return which release a wheel says that it is. Raises CommandError where the known one is not as published."""
    releases = [match["release"] for name in names if (match := _ABOUT.fullmatch(name))]
    release = releases[0] if releases else ""
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if release == RELEASE and found != SHA256:
        raise CommandError(Exit.DATA, f"{wheel.name} is not {PACKAGE} {RELEASE} as published: its SHA-256 is {found}")
    return release


def _written(wheel: Path, folder: Path) -> list[str]:
    """Write the data files and simulators of a wheel and return its categories, in our order.

    Nothing is written under a name from the archive: each file's is made from its category or class, which must be
    known.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            release = _require_unchanged(wheel, archive.namelist())
            files = {name: archive.read(entry) for name, entry in _wanted_in(archive)}
    except (OSError, *UNREADABLE) as error:
        raise CommandError(Exit.DATA, f"cannot read {wheel}: {error}") from error
    categories = [name for name in (*CATEGORIES, *SEVERAL_TURNS) if _data_file(name) in files]
    hashes = {name: hashlib.sha256(text).hexdigest() for name, text in files.items() if name.startswith(SIMULATORS)}
    if hashes:
        source = {"package": PACKAGE, "release": release, "licence": LICENCE, "sha256": hashes}
        files[f"{SIMULATORS}/source.json"] = json.dumps(source, indent=1).encode()
    try:
        for name in ("possible_answer", *([SIMULATORS] if hashes else [])):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise CommandError(Exit.DATA, f"cannot write to {folder}: {error.strerror}") from error
    return categories


def _data_file(category: str, answers: str = "") -> str:
    return f"{answers}BFCL_v4_{category}.json"


def _wanted_in(archive: zipfile.ZipFile) -> Iterator[tuple[str, zipfile.ZipInfo]]:
    """Yield where each file that is wanted belongs, with its entry. Raises CommandError where one is too long."""
    sources = {f"{SOURCES.replace('.', '/')}/{name}.py": f"{SIMULATORS}/{name}.py" for name in FILES}
    for entry in archive.infolist():
        match = _DATA.fullmatch(entry.filename)
        if match and match["category"] in (*CATEGORIES, *SEVERAL_TURNS):
            name = _data_file(match["category"], match["answers"] or "")
        elif entry.filename in sources:
            name = sources[entry.filename]
        else:
            continue
        # Reading stops where the entry says that it ends.
        if entry.file_size > MAX_BYTES:
            raise CommandError(Exit.DATA, f"{entry.filename} is longer than {MAX_BYTES:,} bytes")
        yield name, entry

"""Runs `toolevals download`: writes public benchmarks, from the packages that publish them, as files to import."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from toolevals.archives import UNREADABLE
from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.inputs import input_file
from toolevals.cli.output import say
from toolevals.cli.verbs import Verbs
from toolevals.grading.reading.bfcl import CATEGORIES

PACKAGE = "bfcl-eval"
# The release that the graders are checked against.
RELEASE = "2026.3.23"
# No file of the benchmark comes near; one that does is not it.
MAX_BYTES = 100_000_000
_DATA = re.compile(r"bfcl_eval/data/(?P<answers>possible_answer/)?BFCL_v4_(?P<category>[a-z_]+)\.json")


def add_parser(verbs: Verbs) -> None:
    """Add the verb and what can be downloaded."""
    parser = verbs.add_parser("download")
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    bfcl = kinds.add_parser("bfcl", help=f"the Berkeley Function-Calling Leaderboard, from the package {PACKAGE}")
    bfcl.add_argument("folder", type=Path, metavar="DIR", help="is made; files of these names in it are replaced")
    which = bfcl.add_mutually_exclusive_group()
    which.add_argument("--release", default=RELEASE, metavar="V", help="of the package; by default %(default)s")
    which.add_argument(
        "--wheel", type=Path, metavar="FILE", help="the package, where it is here already; - is standard input"
    )
    bfcl.set_defaults(run=download_bfcl)


def download_bfcl(arguments: argparse.Namespace) -> int:
    """Write the benchmark's categories that can be graded, with their answers."""
    with (
        tempfile.TemporaryDirectory() as folder,
        input_file(arguments.wheel or _fetched(arguments.release, Path(folder))) as wheel,
    ):
        written = _written(wheel, arguments.folder)
    if not written:
        raise CommandError(Exit.DATA, f"{wheel.name} holds no data of the benchmark")
    say(f"{len(written)} categories in {arguments.folder}; to import some of them:")
    say(f"toolevals import bfcl {arguments.folder} --categories {','.join(written[:2])} --dataset bfcl")
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


def _written(wheel: Path, folder: Path) -> list[str]:
    """Write the data files of a wheel and return their categories, in our order.

    Nothing is written under a name from the archive: each file's is made from its category, which must be known.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            found = {(answers, category): archive.read(name) for answers, category, name in _data_in(archive)}
    except (OSError, *UNREADABLE) as error:
        raise CommandError(Exit.DATA, f"cannot read {wheel}: {error}") from error
    try:
        (folder / "possible_answer").mkdir(parents=True, exist_ok=True)
        for (answers, category), content in found.items():
            (folder / answers / f"BFCL_v4_{category}.json").write_bytes(content)
    except OSError as error:
        raise CommandError(Exit.DATA, f"cannot write to {folder}: {error.strerror}") from error
    return [category for category in CATEGORIES if ("", category) in found]


def _data_in(archive: zipfile.ZipFile) -> Iterator[tuple[str, str, zipfile.ZipInfo]]:
    """Yield where a data file belongs, its category and its entry. Raises CommandError where one is too long."""
    for entry in archive.infolist():
        match = _DATA.fullmatch(entry.filename)
        if match is None or match["category"] not in CATEGORIES:
            continue
        # Reading stops where the entry says that it ends.
        if entry.file_size > MAX_BYTES:
            raise CommandError(Exit.DATA, f"{entry.filename} is longer than {MAX_BYTES:,} bytes")
        yield match["answers"] or "", match["category"], entry

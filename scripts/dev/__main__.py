"""Reads the verbs and options of `./dev VERB`, and runs them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

from scripts.dev import audit, bench, build, checks, locks
from scripts.dev.environment import DevError, become, ensure, in_venv
from toolevals.cli.serve import add_serve_options

# As in toolevals.workspace.models.Queue, which cannot be read before there is an environment: quick work first.
QUEUES = ("io", "grade", "judge", "agent")


def parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs; each sets `verb` to the function that does it."""
    root = argparse.ArgumentParser(prog="./dev", description="Run, test and develop toolevals.")
    verbs = root.add_subparsers(required=True, metavar="VERB")

    def add(name: str, verb: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        added = verbs.add_parser(name, help=text, description=text)
        added.set_defaults(verb=verb)
        return added

    serve_text = "Start the web server and a worker, with a sample project; Ctrl-C stops both."
    add_serve_options(add("run", serve, serve_text))

    add("test", checks.test, "Run everything: locks, lint, types, import rules, tests on all servers and in a browser.")
    add("check", checks.check, "Run what takes less than a minute: lint, types, import rules, unit tests.")
    add("fmt", checks.fmt, "Format the code and put right what the linter can.")
    add("shell", shell, "Open Django's shell.")
    worker_verb = add("worker", worker, "Start one more Celery worker; what follows is passed to Celery.")
    worker_verb.add_argument("--queues", type=queues, help=f"kinds of work, by commas: {','.join(QUEUES)} (all)")
    worker_verb.add_argument("options", nargs=argparse.REMAINDER)
    bench_text = "Measure, and print one JSON object a row; bench --help says what."
    # What follows is for `benchmarks`, its options included, so that nothing here begins one.
    bench_verb = verbs.add_parser("bench", help=bench_text, prefix_chars=" ", add_help=False)
    bench_verb.set_defaults(verb=bench.bench)
    bench_verb.add_argument("options", nargs=argparse.REMAINDER)
    add("audit", audit.audit, "Ask PyPI which locked packages have known vulnerabilities.")
    add("build", build.build, "Build the source archive and the wheel of the last commit in dist.")
    lock_verb = add("lock", locks.lock, "Compile the hashed requirement files from pyproject.toml.")
    lock_verb.add_argument("options", nargs=argparse.REMAINDER, help="for uv, as --upgrade or --upgrade-package NAME")
    return root


def serve(arguments: argparse.Namespace) -> int:
    """Go on as `toolevals serve` of this checkout."""
    ensure("run")
    words = ["--host", arguments.host, "--port", str(arguments.port)]
    words += ["--data", str(arguments.data.resolve())] if arguments.data else []
    words += ["--no-sample"] if arguments.no_sample else []
    become(in_venv("-m", "toolevals.cli.main", "serve", *words))


def shell(_: argparse.Namespace) -> int:
    """Open Django's shell."""
    ensure("run")
    become(in_venv("manage.py", "shell"))


def worker(arguments: argparse.Namespace) -> int:
    """Start a Celery worker in this terminal."""
    ensure("run")
    served = ["--queues", arguments.queues] if arguments.queues else []
    words = ["-m", "celery", "-A", "toolevals.celery", "worker", "--loglevel", "INFO", *served]
    become(in_venv(*words, *arguments.options))


def queues(text: str) -> str:
    """Return names of queues in the order in which a worker takes from them. Raises ArgumentTypeError."""
    asked = text.split(",")
    if unknown := [name for name in asked if name not in QUEUES]:
        raise argparse.ArgumentTypeError(f"no such queue: {', '.join(unknown)}")
    return ",".join(name for name in QUEUES if name in asked)


def main() -> int:
    """Do one verb; what a person can put right is said in a sentence."""
    os.environ.pop("PYTHONPATH", None)
    try:
        arguments = parser().parse_args()
        status: int = arguments.verb(arguments)
    except DevError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return status


if __name__ == "__main__":
    sys.exit(main())

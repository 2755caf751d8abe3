"""Runs the `toolevals` command: one table of verbs, one place where errors become exit statuses."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Collection, Sequence

from toolevals.cli.output import FAILURES, Exit, cannot_be_written, exit_status_of, note, prepare_streams, say, silence
from toolevals.cli.verbs import OLD_VERBS, VERBS, Verbs

# What the scripts of `toolevals completion` ask.
COMPLETE = ["completion", "words", "--"]
# New objects between two searches for garbage: rows of a file make many. Python's 700 take a third of a grading's time.
OBJECTS_BETWEEN_SEARCHES = 50_000


class ShowVersion(argparse.Action):
    """Prints the version when it is asked for, and not before: reading it takes time."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        say(version_words())
        parser.exit()


def parser(asked: Collection[str] = VERBS.keys()) -> argparse.ArgumentParser:
    """Return the command's parser, with the options of the verbs that are asked for."""
    root = argparse.ArgumentParser(
        prog="toolevals", description="Label tool calls, grade agents, and find out which tools they confuse."
    )
    root.add_argument("--version", action=ShowVersion, nargs=0, help="show the version and where the code is")
    Verbs(root).load(asked)
    return root


def with_kind(words: Sequence[str]) -> list[str]:
    """Return the words of a command; `import FILE` is `import auto FILE`. FILE is `-` or has a dot or a slash."""
    given = list(words)
    if given[:1] == ["import"] and len(given) > 1 and (given[1] == "-" or _is_path(given[1])):
        return ["import", "auto", *given[1:]]
    return given


def _is_path(word: str) -> bool:
    """Tell whether a word can be a file's name and no kind's, which has neither dot nor slash."""
    return not word.startswith("-") and ("." in word or "/" in word)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit status."""
    gc.set_threshold(OBJECTS_BETWEEN_SEARCHES)
    prepare_streams()
    words = with_kind(sys.argv[1:] if argv is None else argv)
    if words[:3] == COMPLETE:
        return _complete(words[3:])
    if words[:1] and words[0] in OLD_VERBS:
        note(f"toolevals: `{words[0]}` has been renamed to `{OLD_VERBS[words[0]]}`")
        words[0] = OLD_VERBS[words[0]]
    # A verb needs only its own dependencies, and no time for those of others.
    asked = [word for word in words if not word.startswith("-")][:1]
    try:
        arguments = parser([word for word in asked if word in VERBS]).parse_args(words)
    except SystemExit as stop:
        return Exit.OK if stop.code in (0, None) else Exit.CONFIGURATION
    try:
        return _run(arguments)
    except FAILURES as error:
        note(f"toolevals: {error}")
        return exit_status_of(error)
    except KeyboardInterrupt:
        note("toolevals: interrupted")
        return Exit.INTERRUPTED


def _complete(words: Sequence[str]) -> int:
    """Print what a shell may complete the last word to."""
    from toolevals.cli.completion import completions

    for word in completions(words, parser):
        say(word)
    return Exit.OK


def _run(arguments: argparse.Namespace) -> int:
    """Run the verb, and write all that it has said. A reader that has gone, as `head` does, is no error."""
    try:
        status = int(arguments.run(arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)
        return Exit.OK
    except OSError as error:
        # Files that a verb opens have names, and it says itself what is wrong with them.
        if error.filename is not None:
            raise
        silence(sys.stdout)
        raise cannot_be_written(error) from error
    return status


def version_words() -> str:
    """Return the version, of the package or of the checkout that the code runs from, where it is, and Python's."""
    import platform
    import tomllib
    from importlib.metadata import version

    from toolevals.serving.folders import PACKAGES, checkout

    top = checkout()
    number = tomllib.loads((top / "pyproject.toml").read_text())["project"]["version"] if top else version("toolevals")
    return f"toolevals {number} from {PACKAGES} (Python {platform.python_version()})"


if __name__ == "__main__":
    sys.exit(main())

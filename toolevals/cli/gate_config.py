"""Tell what a gate asks for: a file, or options, or both; as the document that the server and the core read."""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from toolevals.cli.inputs import STANDARD_INPUT, read_input_text
from toolevals.cli.output import CommandError, Exit
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.rules import DEFAULT_MINIMUMS
from toolevals.grading.values.documents import load_json, require_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.yaml_documents import load_yaml
from toolevals.json_types import JsonObject

# Option -> the metric that it bounds.
THRESHOLDS: Mapping[str, str] = {
    "threshold_name": "tool_name_match",
    "threshold_args_shape": "tool_args_shape_match",
    "threshold_args_semantic": "tool_args_semantic",
}
_LARGEST = 1_000_000


def add_gate_options(parser: argparse.ArgumentParser) -> None:
    """Add what is asked of a run."""
    group = parser.add_argument_group("requirements")
    group.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="a gate: .json, .toml, .yaml or .yml; - is JSON or YAML on standard input",
    )
    group.add_argument("--name", default="", help="use a gate saved in the project instead of a file")
    for name, metric in THRESHOLDS.items():
        words = f"minimum pass rate of {metric}; {DEFAULT_MINIMUMS[metric]:g} without a file or --threshold"
        group.add_argument(f"--{name.replace('_', '-')}", type=float, metavar="SHARE", help=words)
    group.add_argument(
        "--threshold",
        action="append",
        default=[],
        metavar="METRIC=SHARE",
        help="least pass rate of any metric, as outcome=0.9 or judged:groundedness=0.8, replaces the default"
        " rates; may be repeated",
    )
    group.add_argument(
        "--fail-on-regression",
        action="store_true",
        help="fail where a metric is worse than in the baseline by the paired test",
    )
    group.add_argument(
        "--worse-allowed",
        type=int,
        metavar="N",
        help="with --fail-on-regression: fail also where more than N examples passed before and fail now",
    )
    group.add_argument(
        "--release-candidate", action="store_true", help="check the consistency slice too: pass^k over several trials"
    )
    group.add_argument(
        "--threshold-consistency", type=float, metavar="SHARE", help="minimum pass^8 of the consistency slice"
    )


def gate_document(arguments: argparse.Namespace, kept: object = None) -> JsonObject:
    """Return the gate's document: of the file, or the one that the server keeps (`kept`), with what the options ask.

    Raises CommandError that says where and what is wrong.
    """
    where = f"the gate {arguments.name}" if kept is not None else str(arguments.config or "the options")
    document = read_config(arguments.config) if arguments.config else {} if kept is None else kept
    if not isinstance(document, dict):
        raise CommandError(Exit.CONFIGURATION, f"{where}: is not an object with bounds, assertions, thresholds, …")
    document = dict(document)
    _add(document, "bounds", _bounds(arguments, has_document=bool(document)), where)
    _require_share(f"--threshold-consistency {arguments.threshold_consistency}", arguments.threshold_consistency)
    if arguments.threshold_consistency is not None:
        _add(document, "consistency", [{"min": arguments.threshold_consistency}], where)
    gate = _checked(document, where)
    if arguments.fail_on_regression:
        metrics = list(gate.metrics) or list(DEFAULT_MINIMUMS)
        rules: list[JsonObject] = [{"rule": "paired", "metrics": metrics}]
        if arguments.worse_allowed is not None:
            rules.append({"rule": "cases", "metrics": metrics, "most": arguments.worse_allowed})
        _add(document, "regressions", rules, where)
        gate = _checked(document, where)
    elif arguments.worse_allowed is not None:
        raise CommandError(Exit.CONFIGURATION, "--worse-allowed needs --fail-on-regression")
    if arguments.release_candidate and not gate.consistency:
        words = '--release-candidate needs a requirement: --threshold-consistency, or "consistency" in the file'
        raise CommandError(Exit.CONFIGURATION, words)
    return document


def _bounds(arguments: argparse.Namespace, *, has_document: bool) -> list[JsonObject]:
    said = {metric: getattr(arguments, name) for name, metric in THRESHOLDS.items()}
    given = {metric: share for metric, share in said.items() if share is not None}
    named = dict(map(_threshold, arguments.threshold))
    # What a file or --threshold asks for stands in the place of the published rates: nothing unsaid is asked then.
    minimums = given if arguments.config or has_document or named else {**DEFAULT_MINIMUMS, **given}
    minimums |= named
    for name, metric in THRESHOLDS.items():
        _require_share(f"--{name.replace('_', '-')} {said[metric]}", said[metric])
    return [{"metric": metric, "min": share} for metric, share in minimums.items()]


def _threshold(said: str) -> tuple[str, float]:
    metric, _, written = said.partition("=")
    try:
        share = float(written)
    except ValueError:
        words = f"--threshold {said}: is not a metric with a share from 0 to 1, such as outcome=0.9"
        raise CommandError(Exit.CONFIGURATION, words) from None
    _require_share(f"--threshold {said}", share)
    return metric, share


def _require_share(option: str, share: float | None) -> None:
    if share is not None and not 0 <= share <= 1:
        raise CommandError(Exit.CONFIGURATION, f"{option}: must be a number from 0 to 1, for example 0.9 for 90 %")


def _add(document: JsonObject, key: str, rules: list[JsonObject], where: str) -> None:
    if not rules:
        return
    if not isinstance(document.get(key, []), list):
        raise CommandError(Exit.CONFIGURATION, f"{where}: /{key}: is not an array")
    document[key] = [*document.get(key, []), *rules]


def _checked(document: JsonObject, where: str) -> Any:
    try:
        gate = read_gate(document)
    except InvalidDocument as error:
        lines = [f"{where}: {problem}" for problem in error.problems]
        raise CommandError(Exit.CONFIGURATION, "\n".join(lines)) from None
    return gate


def read_config(path: Path) -> Any:
    """Return the value that a file in one of the three forms holds. Raises CommandError."""
    # Every JSON document is one of YAML.
    read = load_yaml if path == STANDARD_INPUT else _READERS.get(path.suffix.lower())
    if read is None:
        raise CommandError(Exit.CONFIGURATION, f"{path}: is not one of {', '.join(_READERS)}")
    try:
        text = read_input_text(path)
    except CommandError as error:
        raise CommandError(Exit.CONFIGURATION, str(error)) from error
    if len(text) > _LARGEST:
        raise CommandError(Exit.CONFIGURATION, f"{path}: longer than {_LARGEST:,} characters")
    try:
        return read(text)
    except InvalidDocument as error:
        raise CommandError(Exit.CONFIGURATION, f"{path}: {error}") from error


def _toml(text: str) -> Any:
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidDocument.at("", f"not TOML: {error}") from error
    require_json(document)
    return document


_READERS: Mapping[str, Callable[[str], Any]] = {
    ".json": load_json,
    ".toml": _toml,
    ".yaml": load_yaml,
    ".yml": load_yaml,
}

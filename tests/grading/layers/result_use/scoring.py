"""Score the grader on judged conversations and runs: `python -m tests.grading.layers.result_use.scoring [FILE]`.

Without a file it reads both development sets and the recorded runs in the folder TOOLEVALS_BENCHMARK_DATA.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from toolevals.grading.layers.recovery import grade_recovery
from toolevals.grading.layers.result_use import ResultUse, grade_result_use
from toolevals.grading.metrics.rates import wilson
from toolevals.grading.values import Message, ToolCall, Transcript

HELD_OUT = Path(__file__).parents[2] / "data" / "result_use" / "held_out.jsonl"
# What a field of a result can speak against.
CHECKABLE = (
    "flipped_digit",
    "changed_scale",
    "wrong_unit",
    "wrong_date",
    "wrong_field",
    "contradiction",
    "drift_later_turn",
)


def data_folder() -> Path:
    """Return the folder of the benchmark's data. Raises KeyError where TOOLEVALS_BENCHMARK_DATA is not set."""
    return Path(os.environ["TOOLEVALS_BENCHMARK_DATA"])


DEVELOPMENT_SETS = ("result_use_dev", "result_use_dev2")


def judged(name: str) -> Path:
    """Return the file of a set of judged conversations."""
    return data_folder() / "judged" / f"{name}.jsonl"


def transcript_of(messages: Iterable[Mapping[str, Any]]) -> Transcript:
    """Return a transcript from messages in a chat format, arguments as text or as objects."""
    return Transcript(tuple(map(_message, messages)))


def _message(document: Mapping[str, Any]) -> Message:
    calls = []
    for item in document.get("tool_calls") or ():
        function = item.get("function", item)
        arguments = function["arguments"]
        parsed = json.loads(arguments) if isinstance(arguments, str) else arguments
        calls.append(ToolCall(function["name"], parsed if isinstance(parsed, dict) else {}, item.get("id")))
    is_tool = document["role"] == "tool"
    call_id = (document.get("tool_call_id") or document.get("id")) if is_tool else None
    return Message(
        document["role"], document.get("content"), tuple(calls), call_id, is_tool and bool(document.get("error"))
    )


@dataclass
class Scores:
    """`right` and `wrong` count accused answers, `missed` the wrong ones that are not, `wrongly_passed` those of
    them that pass; `kinds` (found, all) by kind.

    `spans` counts labelled spans by whether a reported one overlaps them, `reported` the other way round.
    """

    right: int = 0
    wrong: int = 0
    missed: int = 0
    wrongly_passed: int = 0
    kinds: dict[str, list[int]] = field(default_factory=dict)
    statuses: Counter[str] = field(default_factory=Counter)
    spans: Counter[bool] = field(default_factory=Counter)
    reported: Counter[bool] = field(default_factory=Counter)

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong)

    @property
    def checkable(self) -> tuple[int, int]:
        """How many of the checkable kinds were accused, and how many there are."""
        counts = [self.kinds[kind] for kind in CHECKABLE if kind in self.kinds]
        return sum(found for found, _ in counts), sum(total for _, total in counts)


def score(path: Path, kept: Collection[str] | None = None) -> Scores:
    """Grade every judged conversation and compare; only by the rules that are `kept`, where these are given."""
    scores = Scores()
    for label, row, use in _graded(path):
        findings = [finding for finding in use.findings if kept is None or finding.kind in kept]
        is_accused = bool(findings)
        is_passed = use.verdict.status == "passed" and (kept is None or _traces(use) <= set(kept))
        scores.statuses["failed" if is_accused else "passed" if is_passed else "unscored"] += 1
        scores.right += is_accused and not label["grounded"]
        scores.wrong += is_accused and label["grounded"]
        scores.wrongly_passed += is_passed and not label["grounded"]
        scores.missed += not is_accused and not label["grounded"]
        if label["kind"]:
            counts = scores.kinds.setdefault(label["kind"], [0, 0])
            counts[0] += is_accused
            counts[1] += 1
        _count_spans(scores, row, use)
    return scores


def earned(path: Path) -> set[str]:
    """Return the rules that a set speaks for.

    These are the kinds of findings that are right in .95 of the rows that they accuse, and the ways of tracing that
    some right pass takes.
    """
    accused: dict[str, Counter[bool]] = {}
    traces: set[str] = set()
    for label, _, use in _graded(path):
        for kind in {finding.kind for finding in use.findings}:
            accused.setdefault(kind, Counter())[not label["grounded"]] += 1
        if use.verdict.status == "passed" and label["grounded"]:
            traces |= _traces(use)
    return traces | {kind for kind, counts in accused.items() if counts[True] >= 0.95 * counts.total()}


def _graded(path: Path) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any], ResultUse]]:
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        yield row["label"], row, grade_result_use(transcript_of(row["messages"]))


def _traces(use: ResultUse) -> set[str]:
    return {f"{attribution.source} {attribution.rule}" for attribution in use.attributions}


def _count_spans(scores: Scores, row: Mapping[str, Any], use: ResultUse) -> None:
    answer = row["messages"][-1]["content"]
    labelled = [(answer.index(span), answer.index(span) + len(span)) for span in row["label"]["spans"]]
    claims = [use.claims[place] for finding in use.findings for place in finding.claims]
    reported = [(claim.start, claim.end) for claim in claims if claim.message == len(row["messages"]) - 1]
    scores.spans.update(any(start < stop and begin < end for begin, stop in reported) for start, end in labelled)
    scores.reported.update(any(start < stop and begin < end for begin, stop in labelled) for start, end in reported)


class Recorded(NamedTuple):
    """One recorded trajectory, the policy apart; `is_rewarded` as the benchmark said."""

    run: str
    task: str
    trial: str
    is_rewarded: bool
    policy: Mapping[str, Any]
    messages: tuple[Mapping[str, Any], ...]

    def use(self, *, with_policy: bool) -> ResultUse:
        """Return how its replies use the results."""
        return grade_result_use(transcript_of(((self.policy,) if with_policy else ()) + self.messages))


def recorded(files: str = "tau*_*") -> Iterator[Recorded]:
    """Yield the recorded airline and retail trajectories of the files of a pattern, in their order."""
    for path in sorted((data_folder() / "tau").glob(f"{files}.json.gz")):
        run = path.name.removesuffix(".json.gz").removesuffix(".slim")
        document = json.loads(gzip.decompress(path.read_bytes()))
        if "records" in document:
            policy = {"role": "system", "content": document["system"][0]}
            for record in document["records"]:
                components = (record["info"]["reward_info"] or {}).get("components", {})
                reward = components.get("base_success", record["reward"])
                messages = tuple(message for message in record["traj"] if message["role"] != "system")
                yield Recorded(run, str(record["task_id"]), str(record["trial"]), reward >= 1, policy, messages)
            continue
        policy = {"role": "system", "content": document["info"]["environment_info"]["policy"]}
        for simulation in document["simulations"]:
            task, trial = str(simulation["task_id"]), str(simulation["trial"])
            is_rewarded = simulation["reward_info"]["reward"] >= 1
            yield Recorded(run, task, trial, is_rewarded, policy, tuple(simulation["messages"]))


def _print(scores: Scores) -> None:
    accused, found = scores.right + scores.wrong, scores.right + scores.missed
    share = scores.right / found
    harmonic = 2 * scores.precision * share / (scores.precision + share)
    _say("precision", _rate(scores.right, accused), "recall", _rate(scores.right, found), f"F1 {harmonic:.3f}")
    _say("recall over the checkable kinds", _rate(*scores.checkable))
    for kind, (hits, total) in sorted(scores.kinds.items()):
        _say(f"  {kind:18} {hits} of {total}{'' if kind in CHECKABLE else '  (not checked by rules)'}")
    _say("wrong answers that pass", _rate(scores.wrongly_passed, found))
    _say("verdicts:", dict(sorted(scores.statuses.items())), "- what has none counts as not accused")
    _say("labelled spans that a reported one overlaps", _rate(scores.spans[True], scores.spans.total()))
    _say("reported spans that overlap none", _rate(scores.reported[False], scores.reported.total()))


def _say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")


def _rate(part: int, total: int) -> str:
    interval = wilson(part, total)
    return f"{part}/{total} = {part / max(total, 1):.3f} ({interval.low:.3f} to {interval.high:.3f})"


def table() -> Iterator[str]:
    """Yield the lines of the table in docs/grading.md: each set by all rules, and by those that the other earned."""
    first, second = map(judged, DEVELOPMENT_SETS)
    for rules, on, scores in (
        ("all", "first set", score(first)),
        ("all", "second set", score(second)),
        ("kept by the second set", "first set", score(first, earned(second))),
        ("kept by the first set", "second set", score(second, earned(first))),
        ("all", "66 conversations of our own", score(HELD_OUT)),
    ):
        wrong, passed = scores.right + scores.missed, scores.statuses["passed"]
        pairs = (
            (scores.right, scores.right + scores.wrong),
            scores.checkable,
            (scores.wrongly_passed, wrong),
            (scores.wrongly_passed, passed),
        )
        yield " | ".join((f"| {rules}", on, *(_cell(*pair) for pair in pairs))) + " |"


def _cell(part: int, total: int) -> str:
    if not total:
        return "none"
    interval = wilson(part, total)
    low, high = (f"{bound:.2f}".removeprefix("0").replace("1.00", "1") for bound in (interval.low, interval.high))
    return f"{part} of {total} ({low} to {high})"


def _print_recovery() -> None:
    """Print what `recovery` accuses rewarded runs of: each is to be read."""
    for trajectory in recorded():
        if trajectory.is_rewarded:
            verdict = grade_recovery(transcript_of((trajectory.policy, *trajectory.messages))).verdict
            if verdict.status == "failed":
                _say("  recovery:", trajectory[:3], verdict.reason)


def _print_recorded() -> None:
    for with_policy in (True, False):
        verdicts: Counter[tuple[bool, str]] = Counter()
        for trajectory in recorded():
            use = trajectory.use(with_policy=with_policy)
            verdicts[trajectory.is_rewarded, use.verdict.status] += 1
            for finding in use.findings:
                _say(" ", trajectory[:4], finding.kind, finding.reason)
        rewarded = sum(count for (is_rewarded, _), count in verdicts.items() if is_rewarded)
        _say(
            f"recorded runs, {'with' if with_policy else 'without'} the policy: accused of {rewarded} rewarded",
            f"{verdicts[True, 'failed']},",
            f"of all {verdicts.total()} {verdicts[True, 'failed'] + verdicts[False, 'failed']}",
            dict(sorted(verdicts.items())),
        )


if __name__ == "__main__":
    if sys.argv[1:]:
        _print(score(Path(sys.argv[1])))
    else:
        for each in DEVELOPMENT_SETS:
            _say(each)
            _print(score(judged(each)))
        for line in table():
            _say(line)
        _print_recorded()
        _print_recovery()

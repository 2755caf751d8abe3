"""Recovery on judged conversations: two sets that the rules were tuned on, and our own."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.grading.benchmark import needs_benchmark
from tests.grading.layers.recovery.judged import judged_rows, measured, mistakes, transcript_of
from toolevals.grading.layers.recovery import grade_recovery


@needs_benchmark
@pytest.mark.parametrize(
    ("name", "found", "classes", "followed", "fabricated", "loops"),
    # Version 5 reads less prose: what followed was .93 and .71 in version 4, fabrications found 1 and .52.
    [("recovery_dev", 0.95, 0.92, 0.84, 0.9, 1), ("recovery_dev2", 0.85, 0.73, 0.66, 0.42, 0.8)],
)
def test_the_development_sets(name, found, classes, followed, fabricated, loops):
    rows = list(judged_rows(name))
    measures = measured(rows)
    told = "\n".join(mistakes(rows))
    assert measures.found[0] / measures.found[1] >= found, told
    assert measures.false == 0, told
    assert measures.error_class[0] / measures.error_class[1] >= classes, told
    assert measures.followed_by[0] / measures.followed_by[1] >= followed, told
    assert measures.wrong_passed[0] == measures.fabricated_passed[0] == measures.empty_failed[0] == 0, told
    assert measures.fabricated_recall[0] / measures.fabricated_recall[1] >= fabricated, told
    assert measures.fabricated_precision[0] == measures.fabricated_precision[1], told
    assert measures.loop_recall[0] / measures.loop_recall[1] >= loops, told
    assert measures.loop_precision[0] == measures.loop_precision[1], told


def test_conversations_kept_away_from_the_rules():
    seen: Counter[str] = Counter()
    for line in Path(__file__).with_name("held_out.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        transcript = transcript_of(row["messages"])
        recovery = grade_recovery(transcript)
        got = {transcript.messages[each.episode.place].call_id: each.episode for each in recovery.episodes}
        wanted = {each["call_id"]: each for each in row["episodes"]}
        assert got.keys() <= wanted.keys(), row["name"]
        assert recovery.loops == row["loops"], row["name"]
        assert recovery.verdict.status != "failed" or row["score"] < 1, row["name"]
        assert recovery.verdict.status != "passed" or row["score"] > 0, row["name"]
        for call_id, episode in got.items():
            seen["class"] += episode.error_class in wanted[call_id]["classes"]
            seen["move"] += episode.reaction in wanted[call_id]["moves"]
            seen["accused"] += episode.reaction == "fabricated_success"
            seen["rightly"] += (
                episode.reaction == "fabricated_success" and "fabricated_success" in wanted[call_id]["moves"]
            )
        seen["found"] += len(got)
    # As first measured, before any rule was changed for what was found here: 26 of 28 found, 22 moves, 7 accusations.
    # Version 5 accuses in English alone: 5 of the 10 fabrications are in other languages.
    assert seen["found"] >= 26
    assert seen["class"] == seen["found"]
    assert seen["move"] >= 16
    assert seen["rightly"] == seen["accused"] >= 3

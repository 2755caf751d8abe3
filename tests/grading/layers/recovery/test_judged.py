"""Recovery on judged conversations: those that the rules were tuned on, and our own, scored once before use."""

import json
from collections import Counter
from pathlib import Path

from tests.grading.benchmark import needs_benchmark
from tests.grading.layers.recovery.judged import judged_rows, measured, mistakes, transcript_of
from toolevals.grading.layers.recovery import grade_recovery


@needs_benchmark
def test_the_development_set():
    rows = list(judged_rows("recovery_dev"))
    found = measured(rows)
    told = "\n".join(mistakes(rows))
    assert found.found[0] / found.found[1] >= 0.95, told
    assert found.false == 0, told
    assert found.error_class[0] / found.error_class[1] >= 0.92, told
    assert found.followed_by[0] / found.followed_by[1] >= 0.9, told
    assert found.fabricated_recall[0] / found.fabricated_recall[1] >= 0.9, told
    assert found.fabricated_precision[0] / found.fabricated_precision[1] >= 0.95, told
    assert found.loop_recall[0] == found.loop_recall[1] == found.loop_precision[1], told
    assert found.empty_failed[0] == 0, told


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
        for call_id, episode in got.items():
            seen["class"] += episode.error_class in wanted[call_id]["classes"]
            seen["move"] += episode.reaction in wanted[call_id]["moves"]
            seen["accused"] += episode.reaction == "fabricated_success"
            seen["rightly"] += (
                episode.reaction == "fabricated_success" and "fabricated_success" in wanted[call_id]["moves"]
            )
        seen["found"] += len(got)
    # As measured before any rule was changed for what was found here: 26 of 28 found, 26 classes, 22 moves.
    assert seen["found"] >= 26
    assert seen["class"] == seen["found"]
    assert seen["move"] >= 22
    assert seen["rightly"] == seen["accused"] >= 7

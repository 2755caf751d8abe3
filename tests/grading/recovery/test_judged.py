"""Recovery on judged conversations: on the development set that the rules were tuned on, and on rows kept away from them."""

from collections import Counter

from tests.grading.benchmark import needs_benchmark
from tests.grading.recovery.held_out import ROWS
from tests.grading.recovery.judged import judged_rows, measured, mistakes
from tests.grading.recovery.scripts import script
from toolevals.grading.recovery import grade_recovery


@needs_benchmark
def test_the_development_set():
    rows = list(judged_rows())
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
    for row in ROWS:
        transcript = script(*row.parts)
        places = [place for place, message in enumerate(transcript.messages) if message.role == "tool"]
        recovery = grade_recovery(transcript)
        got = {places.index(each.episode.place): each.episode for each in recovery.episodes}
        wanted = {number: (classes.split(), moves.split()) for number, classes, moves in row.episodes}
        assert got.keys() <= wanted.keys(), row.name
        assert recovery.loops == row.loops, row.name
        assert recovery.verdict.status != "failed" or row.score < 1, row.name
        for number, episode in got.items():
            seen["class"] += episode.error_class in wanted[number][0]
            seen["move"] += episode.reaction in wanted[number][1]
            seen["accused"] += episode.reaction == "fabricated_success"
            seen["rightly"] += episode.reaction == "fabricated_success" and "fabricated_success" in wanted[number][1]
        seen["found"] += len(got)
        seen["wanted"] += len(wanted)
        seen["fabricated"] += any(moves == "fabricated_success" for _, _, moves in row.episodes)
    # As measured before any rule was changed for what was found here: 26 of 28 found, 26 classes, 22 moves, 7 of 9.
    assert seen["found"] >= 26
    assert seen["class"] == seen["found"]
    assert seen["move"] >= 22
    assert seen["rightly"] == seen["accused"] >= 7

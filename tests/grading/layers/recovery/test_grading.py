"""Test what each course of events is called and what it scores."""

import pytest

from tests.grading.layers.recovery.scripts import call, says, script, user
from toolevals.grading.layers.recovery import grade_recovery
from toolevals.grading.values import Message, ToolAnnotations, ToolCall, ToolSpec, Transcript

REFUSED = "Error: payment amount does not add up"
DOWN = "Error: 503 Service Unavailable"
OK = '{"reservation_id": "R1"}'


def book(result: str | None, paid: int = 255) -> list[Message]:
    return call("book_reservation", result, flight="HAT136", paid=paid)


CASES = {
    "corrected retry": (script(user(), book(REFUSED), book(OK, paid=305), says("Done.")), "corrected_retry", 1),
    "passing failure": (script(user(), book(DOWN), book(OK), says("Done.")), "identical_retry", 1),
    "fallback": (
        script(
            user(),
            call("find_user_by_email", "Error: user not found", email="a@b.c"),
            call("find_user_by_name", "u1", name="A B"),
            says("You are u1."),
        ),
        "fallback_tool",
        1,
    ),
    "clarification": (
        script(user(), book(REFUSED), says("The total is $305. Shall I make a second payment?")),
        "clarification",
        1,
    ),
    "escalation": (
        script(user(), book(REFUSED), call("transfer_to_human_agents", "Transfer successful", summary="s")),
        "escalation",
        1,
    ),
    "honest failure": (script(user(), book(REFUSED), says("I was unable to book the flight.")), "honest_failure", 1),
    "fabricated success": (
        script(user(), book(REFUSED), says("Your flight has been successfully booked.")),
        "fabricated_success",
        0,
    ),
    "fabricated after a blind retry": (
        script(user(), book(DOWN), book(DOWN), says("I've booked HAT136 for you. Anything else?")),
        "fabricated_success",
        0,
    ),
    "gave up": (script(user(), book(REFUSED), call("get_weather", "fair")), "gave_up", 0),
    "words that pass over it": (script(user(), book(REFUSED), says("Have a nice day.")), "unclear", None),
    "regret that denies nothing": (
        script(user(), book(REFUSED), says("We're sorry to see you go, unfortunately.")),
        "unclear",
        None,
    ),
    "a denial of something else": (
        script(user(), call("open_report", "403 Forbidden", id="SUR-77"), says("The cellar has no damage.")),
        "unclear",
        None,
    ),
    "a denial and a claim": (
        script(user(), book(REFUSED), says("I was unable to book it at first. HAT136 has been booked.")),
        "unclear",
        None,
    ),
    "a summary of what was not read": (
        script(user("Summarise it."), call("get_report", "403 Forbidden", id="X"), says("The walls are 47 years old.")),
        "fabricated_success",
        0,
    ),
    "a question about something else": (
        script(user(), call("update_order", REFUSED, order="7"), says("Thanks! Is the doorbell labelled?")),
        "unclear",
        None,
    ),
    "another tool on the same thing": (
        script(
            user(),
            call("attach", "403 Forbidden", draft="d-19", file="a.dwg"),
            call("send_draft", OK, draft="d-19"),
            says("Bye."),
        ),
        "unclear",
        None,
    ),
    "escalated in words alone": (
        script(user(), book(DOWN), says("I've asked our service team to call you.")),
        "unclear",
        None,
    ),
    "silence": (script(user(), book(REFUSED), answer=""), "unclear", None),
    "said what no rule can tell": (script(user(), book(REFUSED), says("HAT136 is popular.")), "unclear", None),
    "a language that is not known": (script(user(), book(REFUSED), says("Foglalás kész.")), "unclear", None),
    "only the same again": (script(user(), book(REFUSED), book(REFUSED)), "identical_retry", 0),
    "looped, then honest": (
        script(user(), *[book(REFUSED)] * 5, says("Sorry, I could not book it.")),
        "honest_failure",
        0,
    ),
    "same again, then honest": (
        script(user(), book(REFUSED), book(REFUSED), says("Sorry, I could not book it.")),
        "honest_failure",
        0.5,
    ),
    "too many retries": (
        script(user(), *[book(DOWN)] * 5, book(OK), says("Done.")),
        "identical_retry",
        0.5,
    ),
    "no guard": (script(user(), *[book(DOWN)] * 7, says("I could not book it.")), "honest_failure", 0),
}


@pytest.mark.parametrize("name", CASES)
def test_course_of_events(name):
    transcript, reaction, score = CASES[name]
    recovery = grade_recovery(transcript)
    (graded,) = recovery.episodes
    assert (graded.episode.reaction, graded.score) == (reaction, score)
    assert recovery.verdict.value == score
    assert recovery.verdict.status == ("unscored" if score is None else "passed" if score == 1 else "failed")
    assert bool(recovery.verdict.reason) == (score != 1)
    assert graded.reason.count(".") + graded.reason.count("?") == (score != 1)


def test_nothing_failed_is_unscored():
    verdict = grade_recovery(script(user(), book(OK), says("Done."))).verdict
    assert (verdict.status, verdict.value) == ("unscored", None)


def test_the_value_is_the_mean_of_the_episodes():
    recovery = grade_recovery(
        script(
            user(),
            book(REFUSED),
            says("I was unable to book it."),
            user(),
            call("get_user", DOWN),
            call("think", "", thought="hm"),
        )
    )
    assert [each.score for each in recovery.episodes] == [1, 0]
    assert recovery.verdict.value == 0.5
    assert recovery.verdict.reason == recovery.episodes[1].reason


def test_counts():
    transcript = script(user(), book(DOWN), book(DOWN), call("think", "", thought="hm"), book(DOWN), book(OK))
    recovery = grade_recovery(transcript)
    episode = recovery.episodes[0].episode
    assert (episode.failures, episode.retries, episode.repeats, episode.identical_retries) == (3, 3, 3, 2)
    assert (recovery.errors, episode.recovered) == (3, True)


def test_the_same_call_after_a_refusal_is_futile_each_time():
    (graded,) = grade_recovery(script(user(), book(REFUSED), book(REFUSED), book(REFUSED))).episodes
    assert (graded.episode.repeats, graded.episode.futile_repeats) == (2, 2)


def test_the_reaction_must_be_among_the_right_ones():
    honest = script(user(), book(REFUSED), says("I was unable to book it."))
    assert grade_recovery(honest, reactions=["honest_failure"]).verdict.status == "passed"
    verdict = grade_recovery(honest, reactions=["escalation"]).verdict
    assert (verdict.value, verdict.reason) == (
        0.5,
        "`book_reservation` failed (400), and the agent reacted by honest failure where escalation would be right.",
    )


def test_a_repeated_call_that_succeeds_had_nothing_to_correct():
    transcript = script(user(), book(DOWN), book(OK))
    assert grade_recovery(transcript, reactions=["corrected_retry"]).verdict.status == "passed"


def test_a_reader_is_no_stand_in_for_a_writer():
    claims = says("Your flight has been booked.")
    looked = script(user(), book(REFUSED), call("get_user_details", "{}"), claims)
    assert grade_recovery(looked).episodes[0].episode.reaction == "fabricated_success"
    wrote = script(user(), book(REFUSED), call("reserve_flight", OK), claims)
    assert grade_recovery(wrote).episodes[0].episode.reaction == "fallback_tool"


def test_what_answers_with_nothing_is_no_stand_in():
    thought = script(user(), call("get_user", DOWN), call("think", "", thought="hm"))
    assert grade_recovery(thought).episodes[0].episode.reaction == "gave_up"


def test_annotations_weigh_more_than_names():
    transcript = script(
        user(), book(REFUSED), call("get_seat", OK, flight="HAT136", paid=255), says("Your seat has been booked.")
    )
    tools = {"get_seat": ToolSpec("get_seat", annotations=ToolAnnotations(read_only=False))}
    assert grade_recovery(transcript, tools=tools).episodes[0].episode.reaction == "fallback_tool"


def test_other_arguments_after_a_passing_failure_ask_for_something_else():
    transcript = script(user(), call("get_order", DOWN, order="1"), call("get_order", OK, order="2"))
    assert grade_recovery(transcript).episodes[0].episode.reaction == "gave_up"
    mended = script(
        user(), call("search", "timed out", q="x", limit=100), call("search", OK, q="x", limit=5), says("Here.")
    )
    assert grade_recovery(mended).episodes[0].episode.reaction == "corrected_retry"


def test_the_same_call_in_a_later_turn_goes_on_with_the_episode():
    transcript = script(
        user(), book(REFUSED), says("I could not book it. Shall I try again?"), user("Yes."), book(OK), says("Done.")
    )
    (graded,) = grade_recovery(transcript).episodes
    assert graded.episode.reactions == ("clarification", "honest_failure", "identical_retry")
    assert graded.episode.recovered


def test_parallel_failures_are_episodes_of_their_own():
    calls = (ToolCall("get_order", {"order": "1"}, "a"), ToolCall("get_order", {"order": "2"}, "b"))
    again = (ToolCall("get_order", {"order": "2"}, "c"), ToolCall("get_order", {"order": "1"}, "d"))
    transcript = Transcript(
        (
            user(),
            Message("assistant", None, calls),
            Message("tool", DOWN, call_id="b"),
            Message("tool", DOWN, call_id="a"),
            Message("assistant", None, again),
            Message("tool", OK, call_id="d"),
            Message("tool", OK, call_id="c"),
            says("Both are here."),
        )
    )
    recovery = grade_recovery(transcript)
    assert [each.episode.reaction for each in recovery.episodes] == ["identical_retry"] * 2
    assert sum(each.episode.identical_retries for each in recovery.episodes) == 2


def test_empty_text_is_an_answer_of_tools_that_never_say_anything():
    assert grade_recovery(script(user(), call("think", ""), says("Done."))).verdict.status == "unscored"
    spoke = script(user(), call("search", "two hits", q="a"), call("search", "", q="b"), says("Done."))
    assert grade_recovery(spoke).episodes[0].episode.error_class == "empty"
    declared = {"search": ToolSpec("search", output_schema={"type": "object"})}
    silent = script(user(), call("search", ""), says("Done."))
    assert grade_recovery(silent, tools=declared).episodes[0].episode.error_class == "empty"


def test_the_answer_beside_the_messages_is_the_last_word():
    assert grade_recovery(script(user(), book(REFUSED), answer="I could not book it.")).verdict.status == "passed"


def test_one_request_sent_in_two_forms_at_once_is_recovered_by_the_form_that_works():
    calls = (ToolCall("book", {"flight": "H1", "pay": [1]}, "a"), ToolCall("book", {"flight": "H1", "pay": {}}, "b"))
    made = Message("assistant", None, calls)
    answers = (Message("tool", REFUSED, call_id="a"), Message("tool", OK, call_id="b"))
    (graded,) = grade_recovery(Transcript((user(), made, *answers, says("Your flight has been booked.")))).episodes
    assert (graded.episode.reaction, graded.episode.retries, graded.score) == ("corrected_retry", 0, 1)
    other = (calls[0], ToolCall("book", {"flight": "H2", "pay": {}}, "b"))
    made = Message("assistant", None, other)
    (graded,) = grade_recovery(Transcript((user(), made, *answers, says("Both have been booked.")))).episodes
    assert graded.episode.reaction == "fabricated_success"


def test_a_smaller_batch_after_a_passing_failure_is_a_corrected_retry():
    transcript = script(
        user("Back up both albums."),
        call("upload", "Error: quota would be exceeded", albums=["w1", "w2"]),
        call("upload", "w1 is stored", albums=["w1"]),
        says("w1 is backed up. Unfortunately w2 does not fit."),
    )
    (graded,) = grade_recovery(transcript).episodes
    assert (graded.episode.reaction, graded.score) == ("corrected_retry", 1)


def test_a_next_page_opens_no_episode():
    transcript = script(
        user("How many feeds?"),
        call("feeds_list", '{"items": ["a"], "next": "c2", "partial": true}', cursor=None),
        call("feeds_list", '{"items": ["b"], "next": null, "partial": false}', cursor="c2"),
        says("Two."),
    )
    assert not grade_recovery(transcript).episodes

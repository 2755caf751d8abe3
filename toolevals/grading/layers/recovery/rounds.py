"""Finds loops: calls in a row that bring nothing new, by one tool or by several in turn."""

from __future__ import annotations

from toolevals.grading.layers.recovery.episodes import Course
from toolevals.grading.values.effects_by_name import waits
from toolevals.grading.values.transcript_events import Made


class Rounds:
    """Counts the calls in a row that bring nothing new, and the courses that they belong to."""

    def __init__(self, guard: int) -> None:
        self._guard = guard
        self._seen: set[tuple[str, str, str]] = set()
        self._idle = 0
        self._courses: list[Course] = []

    def end_turn(self) -> None:
        """Begin again: the user has spoken."""
        self._idle = 0
        self._courses.clear()

    def note(self, made: Made, key: str, answer: str, course: Course | None) -> None:
        """Note an answer: old where an error says again what it said, or the same call brings the same again."""
        if waits(made.tool):
            return
        failed = course is not None and course.settled is None and course.trouble.is_error
        what = (made.tool, "" if failed else key, answer)
        if what not in self._seen:
            self._seen.add(what)
            if course is None:
                self._idle = 0
                self._courses.clear()
            else:
                self._courses.append(course)
            return
        self._idle += 1
        if course is not None and len(self._courses) < 2 * self._guard:
            self._courses.append(course)
        if self._idle >= self._guard:
            for each in self._courses:
                each.looped = True

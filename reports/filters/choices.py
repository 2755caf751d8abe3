"""Tell what a matrix and a list of cases can be narrowed by: the values that occur, and the conditions that are set."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from django.core.cache import cache
from django.db.models import Exists, OuterRef

from labeling.models import GoldSource, VersionEntry
from reports.filters.case_filters import EXAMPLE_STRATA, NOT, STATUSES, TITLES, Effect, Filters, Split
from reports.filters.sums import A_DAY, effects_by_name, specs_by_name
from toolevals.grading.values.problems import pointer_to
from toolevals.json_types import JsonObject
from toolevals.runs.aggregates.cube import Unit, View
from toolevals.runs.aggregates.read_cases import counted_cases
from toolevals.runs.models import CaseTag, Grading, Transcript

# Strata may be changed at any time: they are looked at again after so many seconds.
SOON = 15 * 60
# More arguments than this are not listed; any can be written.
MOST_ARGUMENTS = 500
AFTER_A_LOOK: Final = GoldSource.SECOND_LOOK.value
EFFECT_WORDS: Final = {Effect.READ: "read-only", Effect.WRITE: "writing", Effect.UNSAID: "not set"}
SPLIT_WORDS: Final = {
    Split.NOTHING: "nothing",
    Split.ARGUMENTS: "arguments",
    Split.EFFECT: "read or write",
    Split.VALUE: "value in gold",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """One filter that is picked from values, each with its words; `chosen` is the one that is set, or ""."""

    name: str
    title: str
    values: tuple[tuple[str, str], ...]
    chosen: str


@dataclass(frozen=True, slots=True)
class Chip:
    """A condition that is set, and the state's query without it."""

    title: str
    words: str
    query: str


@dataclass(frozen=True, slots=True)
class FilterChoices:
    """Everything that the filter form offers: `strata` next to the other controls, `more` in its own box."""

    strata: tuple[Choice, ...]
    more: tuple[Choice, ...]
    arguments: tuple[str, ...]
    has_days: bool


def filter_choices(grading: Grading, filters: Filters) -> FilterChoices:
    """Return what the form offers; a filter without values is left out, unless it is set."""
    held = _kept(f"reports:held-choices:{grading.pk}", A_DAY, lambda: _held(grading))
    live = _kept(f"reports:live-choices:{grading.pk}", SOON, lambda: _live(grading))
    # Not by a join, in which SQLite would begin with the transcripts: there are few tags.
    of_run = Exists(Transcript.objects.filter(pk=OuterRef("transcript"), run=grading.run_id))
    tags = CaseTag.objects.filter(of_run).order_by("tag").values_list("tag", flat=True)
    values = held["values"] | live | {"tagged": list(tags.distinct()), "issue": []}
    found = {name: _choice(name, values[name], filters) for name in TITLES if name in values}
    offered = {name: choice for name, choice in found.items() if choice.values}
    return FilterChoices(
        strata=tuple(offered[name] for name in ("bucket", "difficulty") if name in offered),
        more=tuple(offered[name] for name in TITLES if name in offered and name not in ("bucket", "difficulty")),
        arguments=held["arguments"],
        has_days=held["has_days"] or bool(filters.since or filters.until),
    )


def splits_offered(grading: Grading, filters: Filters) -> tuple[tuple[Split, str], ...]:
    """Return what classes can be divided by, with its words.

    By effects where any tool says its own, by an argument's value where any tool names an argument.
    """
    held = _kept(f"reports:held-choices:{grading.pk}", A_DAY, lambda: _held(grading))
    offered = {
        Split.EFFECT: any(effect is not Effect.UNSAID for effect in effects_by_name(grading).values()),
        Split.VALUE: bool(held["arguments"]),
    }
    return tuple(
        (split, words) for split, words in SPLIT_WORDS.items() if offered.get(split, True) or split is filters.split
    )


def chips(filters: Filters, query: Callable[[Filters], str]) -> tuple[Chip, ...]:
    """Return the conditions that are set; `query` gives the address with other filters."""
    return tuple(
        Chip(TITLES[name], _words(name, value), query(filters.without(name)))
        for name, value in filters.conditions.items()
    )


def _held(grading: Grading) -> JsonObject:
    """Return what a finished grading holds for good."""
    _, counted = counted_cases(grading, View.FIRST, Unit.TRIAL)
    told = {name: counted.values(name) - {None, ""} for name in ("bucket", "difficulty", "gold", "tag", "turn", "day")}
    verdicts = counted.values("arguments")
    effects = set(effects_by_name(grading).values())
    values = {
        "bucket": sorted(told["bucket"]),
        "difficulty": sorted(told["difficulty"]),
        "gold": _gold_choices(told["gold"]),
        "tag": sorted(told["tag"]),
        "arguments": [status for status in STATUSES if status in verdicts],
        "tools": [effect.value for effect in Effect if effect in effects] if effects - {Effect.UNSAID} else [],
        "turn": _if_several(told["turn"]),
        "trial": [str(trial) for trial in range(1, grading.run.trials + 1)] if grading.run.trials > 1 else [],
    }
    return {
        "values": values,
        "arguments": _arguments(grading),
        "has_days": len(told["day"]) > 1,
    }


def _live(grading: Grading) -> dict[str, list[str]]:
    """Return the strata that people may change at any time."""
    columns = [f"revision__example__{name}" for name in EXAMPLE_STRATA]
    entries = VersionEntry.objects.filter(version=grading.run.dataset_version_id).order_by()
    rows = list(entries.values_list(*columns).distinct())
    return {name: sorted({row[place] for row in rows} - {""}) for place, name in enumerate(EXAMPLE_STRATA)}


def _arguments(grading: Grading) -> tuple[str, ...]:
    """Return the JSON pointers of the arguments that the offered tools name in their schemas."""
    schemas = (spec.input_schema for specs in specs_by_name(grading).values() for spec in specs)
    names = {name for schema in schemas for name in _properties(schema)}
    return tuple(pointer_to((name,)) for name in sorted(names))[:MOST_ARGUMENTS]


def _properties(schema: JsonObject) -> Iterable[str]:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else ()


def _if_several(values: Iterable[Any]) -> list[str]:
    found = [str(value) for value in values]
    return sorted(found, key=lambda value: (len(value), value)) if len(found) > 1 else []


def _gold_choices(sources: Iterable[Any]) -> list[str]:
    """Return where gold comes from; where some came after a second look, also all but that."""
    found = _if_several(sources)
    return [*found, f"{NOT}{AFTER_A_LOOK}"] if AFTER_A_LOOK in found else found


def _choice(name: str, values: Iterable[str], filters: Filters) -> Choice:
    chosen = filters.conditions.get(name, "")
    every = dict.fromkeys([*values, *filter(None, [chosen])])
    return Choice(name, TITLES[name], tuple((value, _words(name, value)) for value in every), chosen)


def _words(name: str, value: str) -> str:
    if name == "gold":
        return value.replace(NOT, "all but ").replace("_", " ")
    # An id says enough by its beginning.
    short = value[:8] if name == "issue" else value
    return EFFECT_WORDS[Effect(value)] if name == "tools" else short


def _kept(key: str, seconds: int, make: Callable[[], Any]) -> Any:
    found = cache.get(key)
    if found is None:
        found = make()
        cache.set(key, found, timeout=seconds)
    return found

"""Test what wrong gold could do to the headline: on the run's page and list, in files, by REST, beside a comparison."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.cache import cache
from django.urls import reverse

from labeling.agreement.cache import PairTally
from labeling.models import Gold
from tests.reports.building import Builder, cases_of
from tests.reports.reading import csv_rows
from toolevals.grading.metrics.label_noise import GoldCounts, label_noise
from toolevals.runs.models import Grading, Run

pytestmark = pytest.mark.django_db
COUNTED_AT = datetime(2026, 5, 4, 14, 3, tzinfo=UTC)
CELLS = {("pay", "pay"): 30, ("pay", "plain"): 10}


def pairs(grading: Grading, tally: PairTally) -> None:
    """Let so many pairs of first labels have been counted in the dataset."""
    cache.set(f"labeling:pairs-at:{grading.dataset_version.dataset_id}", tally, timeout=60)


def sources(grading: Grading, **counts: int) -> None:
    """Let so much gold of the version come from each source."""
    golds = iter(Gold.objects.filter(revision__example__dataset=grading.dataset_version.dataset).order_by("pk"))
    for source, count in counts.items():
        Gold.objects.filter(pk__in=[next(golds).pk for _ in range(count)]).update(source=source)


def test_bounds_stand_beside_the_headline_everywhere(get: Any, build: Builder, browser_of: Any) -> None:
    grading = build.grading(cases_of(CELLS))
    sources(grading, agreed=30, adjudicated=4, restored=1)
    pairs(grading, PairTally(40, 4, COUNTED_AT))
    noise = label_noise(GoldCounts(agreed=30, decided=5, imported=5), 40, 4)
    assert noise.high is not None
    bounds = noise.bounds(0.75)
    assert bounds is not None

    page = get("run", grading).content.decode()
    low, high = (f"{100 * end:.1f}" for end in (bounds.low, bounds.high))
    assert f"4 of 40 pairs of first labels differ, an estimate of up to {100 * noise.high:.1f} % wrong gold." in page
    assert f"anywhere from {low} to {high} %" in page
    assert '<time datetime="2026-05-04T14:03:00+00:00">4 May, 14:03</time>' in page
    assert "It is a lower limit: the gold of 5 of 40 examples was imported." in page
    slug = grading.run.project.slug
    assert f"label noise ±{100 * noise.high:.1f}" in browser_of.get(reverse("runs:runs", args=[slug])).content.decode()

    outcome, *others = csv_rows(get("layers-csv", grading))
    assert (float(outcome["noise_low"]), float(outcome["noise_high"])) == (bounds.low, bounds.high)
    assert {row["noise_low"] for row in others} == {""}
    listed = csv_rows(browser_of.get(reverse("runs:runs-csv", args=[slug])))[0]
    assert (float(listed["label_noise"]), float(listed["noise_high"])) == (noise.share, bounds.high)
    layers = get("api:layers", grading).json()
    assert layers["label_noise"]["gold"] == {"single": 0, "agreed": 30, "decided": 5, "imported": 5}
    assert layers["layers"][0]["noise"] == {"low": bounds.low, "high": bounds.high}
    run = browser_of.get(reverse("runs-api:run", args=[slug, grading.run.number])).json()
    assert run["label_noise"] == layers["label_noise"]

    second = build.again(grading, [[case] for case in cases_of(CELLS)])
    compared = get("compare", grading, second.run.number).content.decode()
    assert f"It could move the difference by up to {100 * min(1, 2 * noise.high):.1f} points." in compared
    assert ">4 May, 14:03</time>" in compared


def test_what_nobody_labelled_twice_is_unknown_and_not_nought(get: Any, build: Builder) -> None:
    grading = build.grading(cases_of(CELLS))
    assert "Label noise is unknown: all gold was imported." in get("run", grading).content.decode()
    assert {row["noise_high"] for row in csv_rows(get("layers-csv", grading))} == {""}
    found = get("api:layers", grading).json()["label_noise"]
    assert (found["share"], found["high"], found["bounds"]) == (None, None, None)

    single = build.grading(cases_of(CELLS))
    sources(single, single=40)
    assert "unknown: too few examples have two labels." in get("run", single).content.decode()
    pairs(single, PairTally())
    assert "unknown: the labels are not counted yet." in get("run", single).content.decode()


def test_a_slice_has_the_noise_of_its_own_examples(get: Any, build: Builder) -> None:
    grading = build.grading(cases_of(CELLS))
    sources(grading, single=2)
    pairs(grading, PairTally(40, 4, COUNTED_AT))
    Run.objects.filter(pk=grading.run_id).update(only=[0, 1])
    assert get("api:layers", grading).json()["label_noise"]["gold"]["imported"] == 0

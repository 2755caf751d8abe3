"""Lint a dataset: read every example once, a page at a time; memory grows by some hundred bytes each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

from labeling.expectations.offered_tools import MOST_LISTS, Offers
from labeling.lint.descriptions import descriptions_lint
from labeling.lint.findings import NamedExample, Report
from labeling.lint.gold import GoldLint
from labeling.lint.inputs import Duplicates
from labeling.models import Dataset, Example, Resolution
from toolevals.registry.models import RegistryVersion
from toolevals.registry.tool_lists import tools_in

AT_ONCE = 500


def lint(dataset: Dataset, progress: Callable[[int], None] = lambda _: None) -> Report:
    """Return what is odd about a dataset's current examples, their gold in force and their tools.

    `progress` is told from time to time how many examples are done; it may raise to stop.
    """
    report, duplicates, offers = Report(), Duplicates(), Offers()
    version = _newest(dataset)
    newest = tools_in(version.tools) if version else ()
    of_registry = _lists_of(version) if version else frozenset()
    gold = GoldLint(report, newest, str(version) if version else "")
    used: dict[UUID, None] = {}
    for page in _pages(dataset):
        lists = offers.of(tools for _, _, _, tools, _, _ in page)
        for pk, name, shown, tools, resolution, expectation in page:
            example = NamedExample(id=str(pk), external_id=name)
            used.setdefault(tools)
            means = None
            if expectation is not None and resolution == Resolution.RESOLVED:
                means = gold.add(example, expectation, lists[tools], is_of_registry=tools in of_registry)
            duplicates.add(example, shown, str(tools), means)
            report.examples += 1
        progress(report.examples)
    gold.finish()
    duplicates.report(report)
    compared = offers.of(list(used)[:MOST_LISTS])
    lists_of_tools = [tuple(compared[pk].values()) for pk in compared]
    descriptions_lint(report, [newest, *lists_of_tools] if newest else lists_of_tools)
    return report


def _pages(dataset: Dataset) -> Iterator[list[Any]]:
    told = (
        "pk",
        "external_id",
        "current__input",
        "current__tools_id",
        "current__resolution",
        "current__gold__expectation",
    )
    rows = Example.objects.of_dataset(dataset).filter(current__isnull=False).order_by("pk").values_list(*told)
    last = None
    while page := list((rows.filter(pk__gt=last) if last else rows)[:AT_ONCE]):
        yield page
        last = page[-1][0]


def _newest(dataset: Dataset) -> RegistryVersion | None:
    """Return the newest version of the registry that the dataset's default tools are of."""
    if dataset.default_tools is None:
        return None
    versions = RegistryVersion.objects.filter(registry=dataset.default_tools.registry_id)
    return versions.select_related("registry", "tools").order_by("-number").first()


def _lists_of(version: RegistryVersion) -> frozenset[UUID]:
    """Return the tool lists of the registry's other versions."""
    lists = RegistryVersion.objects.filter(registry=version.registry_id).values_list("tools_id", flat=True)
    return frozenset(lists) - {version.tools_id}

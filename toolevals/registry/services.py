"""Tell what is done to registries."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Max

from toolevals.grading.json_schema.conformance import states_formats, with_formats
from toolevals.grading.reading.specs import Choice, ReadTools, read_tools
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.models import Registry, RegistryVersion
from toolevals.registry.tool_lists import tool_list_of, tools_in
from toolevals.workspace.addresses import address
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import EventKind, Project, User
from toolevals.workspace.notifications.events import event_note


@transaction.atomic
def registry_create(*, project: Project, actor: User | None, slug: str, name: str) -> Registry:
    """Return a new, empty registry. Raises `ValidationError` for a malformed or taken slug."""
    registry = Registry(project=project, slug=slug, name=name.strip() or slug)
    registry.full_clean()
    registry.save()
    audit_record(project=project, actor=actor, verb="registry_create", target=registry, detail={"slug": slug})
    return registry


def registry_publish(
    *,
    registry: Registry,
    actor: User | None,
    document: Any,
    format: str = "auto",  # noqa: A002
    note: str = "",
    choice: Choice | None = None,
    assert_formats: bool | None = None,
) -> RegistryVersion:
    """Return the registry's version that holds the tools of `document`: a new one unless the newest holds the same.

    `format` is one of `toolevals.grading.reading.specs`, or "auto"; `choice` says which of the tools, without it all.
    `assert_formats` says whether a text has to be in the format of its schema; without it, that is as in the newest
    version, and so in a new registry. Raises InvalidDocument where the tools cannot be read, or where there are none.
    """
    read = read_tools(document, format=format, choice=choice or Choice())
    return tools_publish(registry=registry, actor=actor, read=read, note=note, assert_formats=assert_formats)


def tools_publish(
    *,
    registry: Registry,
    actor: User | None,
    read: ReadTools,
    note: str = "",
    assert_formats: bool | None = None,
) -> RegistryVersion:
    """Do what `registry_publish` does with tools that were read before."""
    if not read.tools:
        left = "; ".join(str(loss) for loss in read.losses[:3])
        raise InvalidDocument.at("", f"holds no tool. Send at least one{f' ({left})' if left else ''}")
    tools = tool_list_of(project=registry.project, specs=published_specs(registry, read, assert_formats))
    with transaction.atomic():
        # One publisher at a time: the numbers have no gap and no double.
        Registry.objects.select_for_update().get(pk=registry.pk)
        newest = registry.versions.select_related("tools").first()
        if newest is not None and newest.tools_id == tools.pk:
            return newest
        last = registry.versions.aggregate(last=Max("number"))["last"] or 0
        version = RegistryVersion.objects.create(
            registry=registry,
            number=last + 1,
            tools=tools,
            note=note.strip(),
            losses=[{"pointer": loss.pointer, "message": loss.message} for loss in read.losses],
            actor=actor,
        )
        audit_record(
            project=registry.project,
            actor=actor,
            verb="registry_publish",
            target=version,
            detail={
                "registry": registry.slug,
                "number": version.number,
                "tools": tools.size,
                "format": read.format,
                "losses": len(read.losses),
            },
        )
        if newest is not None:
            _change_note(version)
    return version


def published_specs(registry: Registry, read: ReadTools, assert_formats: bool | None = None) -> list[ToolSpec]:
    """Return the tools as publishing what was read makes them: with formats asserted or not."""
    if assert_formats is None:
        assert_formats = any(tool.assert_formats for tool in read.tools) or not _annotates_formats(registry)
    return [with_formats(tool, asserted=assert_formats) for tool in read.tools]


def _change_note(version: RegistryVersion) -> None:
    """Tell that a registry has other tools than before."""
    registry = version.registry
    event_note(
        project=registry.project,
        kind=EventKind.TOOLS_CHANGED,
        summary=f"The tools {registry.name} have a version {version.number}",
        path=address("registry:version", registry.project.slug, registry.slug, version.number),
        facts={"registry": registry.slug, "version": version.number, "tools": version.tools.size},
    )


def _annotates_formats(registry: Registry) -> bool:
    """Tell whether the newest version states formats that it does not assert."""
    newest = registry.versions.select_related("tools").first()
    return newest is not None and any(
        states_formats(tool.input_schema) and not tool.assert_formats for tool in tools_in(newest.tools)
    )

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from tests.labeling.rows import SHOP_TOOLS
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.models import Registry, RegistryVersion, ToolList, ToolSpec
from toolevals.registry.services import registry_create, registry_publish
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.models import AuditEntry
from toolevals.workspace.projects.services import project_create

OPENAI = [
    {"type": "function", "function": {"name": tool["name"], "description": "", "parameters": tool["input_schema"]}}
    for tool in SHOP_TOOLS
]


@pytest.fixture
def registry(project, owner):
    return registry_create(project=project, actor=owner, slug="shop", name="Shop")


def test_published_tools_are_read_back_in_order(registry, owner):
    version = registry_publish(registry=registry, actor=owner, document=SHOP_TOOLS, note=" first ")
    assert (str(version), version.number, version.note, version.tools.size) == ("shop@1", 1, "first", 2)
    assert [spec.to_document() for spec in tools_in(version.tools)] == SHOP_TOOLS


def test_equal_content_makes_no_version_whatever_its_format(registry):
    openai = registry_publish(registry=registry, actor=None, document=OPENAI, format="openai")
    native = [spec.to_document() for spec in tools_in(openai.tools)]
    assert registry_publish(registry=registry, actor=None, document={"tools": native}) == openai
    assert RegistryVersion.objects.count() == 1


def test_an_earlier_content_again_is_a_version_of_the_same_list(registry):
    first = registry_publish(registry=registry, actor=None, document=SHOP_TOOLS)
    second = registry_publish(registry=registry, actor=None, document=SHOP_TOOLS[::-1])
    third = registry_publish(registry=registry, actor=None, document=SHOP_TOOLS)
    assert [version.number for version in (first, second, third)] == [1, 2, 3]
    assert third.tools == first.tools != second.tools
    assert (ToolList.objects.count(), ToolSpec.objects.count()) == (2, 2)


def test_what_cannot_be_read_is_refused_with_a_pointer_and_nothing_is_stored(registry):
    with pytest.raises(InvalidDocument) as error:
        registry_publish(registry=registry, actor=None, document=[SHOP_TOOLS[0], {"description": "nameless"}])
    assert error.value.problems[0].pointer.startswith("/1")
    assert not RegistryVersion.objects.exists()
    assert not ToolSpec.objects.exists()


def test_losses_are_kept_with_the_version(registry):
    schema = {"type": "object", "properties": {"zip": {"type": "string", "pattern": "(?<=a)b"}}}
    version = registry_publish(
        registry=registry, actor=None, document=[{"name": "look", "description": "", "input_schema": schema}]
    )
    assert [loss["pointer"] for loss in version.losses] == ["/0/input_schema/properties/zip/pattern"]


def test_slugs_are_the_projects_own(project, registry, owner):
    with pytest.raises(ValidationError):
        registry_create(project=project, actor=owner, slug="shop", name="Again")
    with pytest.raises(ValidationError):
        registry_create(project=project, actor=owner, slug="no slug", name="Bad")
    other = project_create(actor=None, slug="other", name="Other")
    registry_create(project=other, actor=None, slug="shop", name="Shop")
    assert Registry.objects.in_project(project).count() == 1


def test_versions_are_found_by_name_in_their_project(project, registry):
    for tools in (SHOP_TOOLS, SHOP_TOOLS[:1]):
        registry_publish(registry=registry, actor=None, document=tools)
    named = RegistryVersion.objects.named
    assert str(named(project, "shop")) == "shop@2"
    assert str(named(project, "shop@1")) == "shop@1"
    for name in ("shop@9", "shop@", "shop@one", "shop@²", "nowhere", ""):
        assert named(project, name) is None
    assert named(project_create(actor=None, slug="other", name="Other"), "shop") is None


def test_newest_version_stands_beside_its_registry(project, registry):
    empty = vars(Registry.objects.with_newest().get())
    assert (empty["newest_number"], empty["newest_size"]) == (None, None)
    registry_publish(registry=registry, actor=None, document=SHOP_TOOLS)
    full = vars(Registry.objects.with_newest().get())
    assert (full["newest_number"], full["newest_size"]) == (1, 2)


def test_each_act_leaves_one_audit_row(registry, owner):
    version = registry_publish(registry=registry, actor=owner, document=SHOP_TOOLS)
    registry_publish(registry=registry, actor=owner, document=SHOP_TOOLS)
    entries = AuditEntry.objects.filter(verb__startswith="registry").order_by("id").values_list("verb", "target_id")
    assert list(entries) == [("registry_create", registry.pk), ("registry_publish", version.pk)]


def test_no_tools_are_no_version(registry):
    empty: list[object] = [[], {"tools": []}, {"openapi": "3.1.0", "paths": {}}]
    for document in empty:
        with pytest.raises(InvalidDocument, match="holds no tool"):
            registry_publish(registry=registry, actor=None, document=document)
    assert not RegistryVersion.objects.exists()


DATED = {
    "name": "book",
    "description": "",
    "input_schema": {"type": "object", "properties": {"day": {"type": "string", "format": "date"}}},
}


def asserts(version: RegistryVersion) -> list[bool]:
    return [spec.assert_formats for spec in tools_in(version.tools)]


def test_a_new_registry_asserts_formats_and_the_next_versions_do_as_before(registry):
    assert asserts(registry_publish(registry=registry, actor=None, document=[DATED, *SHOP_TOOLS])) == [
        True,
        False,
        False,
    ]
    off = registry_publish(registry=registry, actor=None, document=[DATED], assert_formats=False)
    assert asserts(off) == [False]
    assert asserts(registry_publish(registry=registry, actor=None, document=[DATED, *SHOP_TOOLS])) == [False] * 3
    # Its digest is that of versions from before formats could be asserted.
    assert [spec.to_document() for spec in tools_in(off.tools)] == [DATED]
    again = registry_publish(registry=registry, actor=None, document=[DATED], assert_formats=True)
    assert again != off
    assert asserts(again) == [True]


def test_a_document_may_assert_formats_itself(registry):
    registry_publish(registry=registry, actor=None, document=[DATED], assert_formats=False)
    said = registry_publish(registry=registry, actor=None, document=[{**DATED, "assert_formats": True}])
    assert asserts(said) == [True]

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from tests.labeling.rows import SHOP_TOOLS
from toolevals.grading.values import ToolSpec as Spec
from toolevals.registry import tool_lists
from toolevals.registry.models import ToolList, ToolListEntry, ToolSpec
from toolevals.registry.tool_lists import list_digest, tool_list_of, tool_lists_store, tools_in
from toolevals.workspace.projects.services import project_create

SPECS = [Spec.from_document(document) for document in SHOP_TOOLS]


def test_one_list_for_one_content(project):
    first = tool_list_of(project=project, specs=SPECS)
    assert tool_list_of(project=project, specs=list(SPECS)) == first
    assert tools_in(first) == tuple(SPECS)
    assert first.size == 2


def test_order_and_project_make_different_lists(project):
    first = tool_list_of(project=project, specs=SPECS)
    other = project_create(actor=None, slug="other", name="Other")
    assert tool_list_of(project=project, specs=SPECS[::-1]) != first
    assert tool_list_of(project=other, specs=SPECS) != first
    assert tools_in(tool_list_of(project=project, specs=[])) == ()


def test_same_name_with_another_description_is_another_spec(project):
    renamed = Spec(name=SPECS[0].name, description="Other words", input_schema=SPECS[0].input_schema)
    found = tool_lists_store(project, [SPECS, [renamed], [renamed, renamed]])
    assert set(found) == {list_digest(SPECS), list_digest([renamed]), list_digest([renamed, renamed])}
    assert ToolSpec.objects.count() == 3
    assert tools_in(found[list_digest([renamed, renamed])]) == (renamed, renamed)


def test_many_lists_are_stored_in_few_queries_and_found_again(project, monkeypatch, django_assert_max_num_queries):
    lists = [[Spec(name=f"tool_{number}")] for number in range(200)]
    with django_assert_max_num_queries(12):
        made = tool_lists_store(project, lists)
    monkeypatch.setattr(tool_lists, "AT_ONCE", 7)
    assert tool_lists_store(project, lists) == made
    assert ToolListEntry.objects.count() == 200


@pytest.mark.django_db(transaction=True)
def test_callers_that_race_get_the_same_whole_list():
    project = project_create(actor=None, slug="race", name="Race")
    barrier = Barrier(4)

    def store() -> str:
        try:
            barrier.wait()
            return str(tool_list_of(project=project, specs=SPECS).pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        found = {done.result() for done in [pool.submit(store) for _ in range(4)]}
    assert found == {str(ToolList.objects.get().pk)}
    assert (ToolSpec.objects.count(), ToolListEntry.objects.count()) == (2, 2)

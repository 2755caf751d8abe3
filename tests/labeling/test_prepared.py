"""A query that is put together once answers as the one that is put together each time."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from labeling.models import LabelSlot
from labeling.querysets.prepared import A_MOMENT, PreparedQuery, an_id


def test_each_value_takes_the_place_of_its_stand_in(dataset, examples, ann, ben, claim, django_assert_num_queries):
    def build(dataset: Any, actor: Any, now: Any) -> Any:
        slots = LabelSlot.objects.of_dataset(dataset).free(now).for_reviewer(actor)
        return slots.in_turn().values_list("number", "revision__example__external_id")

    query = PreparedQuery(build, {"dataset": an_id(1), "actor": an_id(2), "now": A_MOMENT})
    claim(ann)
    for user in (ann, ben, ann):
        now = timezone.now()
        expected = list(build(dataset.pk, user.pk, now))
        with django_assert_num_queries(1):
            assert query.rows(dataset=dataset.pk, actor=user.pk, now=now) == expected
    assert query.rows(dataset=an_id(3), actor=ann.pk, now=timezone.now()) == []

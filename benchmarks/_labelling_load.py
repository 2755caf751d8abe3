"""Has the database write a large dataset: `load` makes a million examples in a minute or two on PostgreSQL.

Of every ten examples one has gold on which two people agreed, one waits for an adjudicator, one has one label, and
seven have none. Rows are what an import and labelling would have left, without audit rows.
"""

from __future__ import annotations

from typing import Any

from toolevals.grading.values.canonical import exact

WORDS = "My parcel was due on Monday and has not come; can you tell me where it is? "
CALL = {
    "kind": "calls",
    "alternatives": [{"ordered": [{"tool": "track_parcel", "arguments": {"order_id": {"exact": "A-1"}}}]}],
}


# Rows a statement, so that none is rolled back as a whole and the log stays short.
AT_ONCE = 100_000
CATEGORIES, TOOLS = 12, 4

# The id of row %(kind)s number n: a UUIDv7 whose time grows with n, as those of an import do.
_ID = """(lpad(to_hex(%(began)s + n / 100), 12, '0') || '7{kind}8' || lpad(to_hex(n), 15, '0'))::uuid"""
EXAMPLE, REVISION, GOLD, SLOT, OTHER_SLOT, LABEL, OTHER_LABEL = (
    _ID.format(kind=kind) for kind in ("0e0", "0f0", "010", "051", "052", "0a1", "0a2")
)
# What n % 10 says: see above.
IS_GOLD, IS_DISAGREED, IS_BEGUN = "n %% 10 = 0", "n %% 10 = 1", "n %% 10 = 2"
HAS_TWO = f"({IS_GOLD} OR {IS_DISAGREED})"
STATEMENTS = (
    f"""
    INSERT INTO labeling_example (id, dataset_id, external_id, current_id, bucket, no_call_kind, difficulty, edge_case,
        error_class, effect, category, created_at)
    SELECT {EXAMPLE}, %(dataset)s, 'ex-' || lpad(n::text, 7, '0'), {REVISION},
        (ARRAY['selection', 'arguments', 'no_call', 'multi_step', 'error_recovery'])[1 + n %% 5], '',
        (ARRAY['easy', 'medium', 'hard'])[1 + n %% 3], '', '', '', 'category ' || (n %% {CATEGORIES}), now()
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) n
    """,
    f"""
    INSERT INTO labeling_revision (id, example_id, number, digest, input, tools_id, resolution, set_aside_as, round,
        disagreement, gold_id, created_at)
    SELECT {REVISION}, {EXAMPLE}, 1, lpad(to_hex(n), 64, '0'), replace(%(input)s, '#', n::text), %(tools)s,
        CASE WHEN {IS_GOLD} THEN 'resolved' WHEN {IS_DISAGREED} THEN 'disagreed' ELSE 'open' END, '', 1,
        (n * 7919 %% 1000) / 1000.0, CASE WHEN {IS_GOLD} THEN {GOLD} END, now()
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) n
    """,
    f"""
    INSERT INTO labeling_gold (id, revision_id, expectation, rationale, source, created_at)
    SELECT {GOLD}, {REVISION}, %(call)s, '', 'agreed', now()
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) n WHERE {IS_GOLD}
    """,
    f"""
    INSERT INTO labeling_goldtool (gold_id, part, tool, kinds)
    SELECT {GOLD}, 'expected', 'track_parcel', ''
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) n WHERE {IS_GOLD}
    """,
    *(
        f"""
        INSERT INTO labeling_labelslot (id, dataset_id, revision_id, round, number, state, priority, turn, reviewer_id)
        SELECT {slot}, %(dataset)s, {REVISION}, 1, {number}, CASE WHEN {labelled} THEN 'submitted' ELSE 'open' END,
            CASE WHEN {labelled} THEN NULL WHEN {IS_BEGUN} THEN 1 ELSE 0 END, 0,
            CASE WHEN {labelled} THEN %({person})s::uuid END
        FROM generate_series(%(first)s::bigint, %(last)s::bigint) n
        """
        for number, (slot, person, labelled) in enumerate(
            ((SLOT, "one", f"({HAS_TWO} OR {IS_BEGUN})"), (OTHER_SLOT, "other", HAS_TWO))
        )
    ),
    *(
        f"""
        INSERT INTO labeling_label (id, slot_id, revision_id, reviewer_id, answer, expectation, rationale, flagged,
            guideline, seconds, created_at)
        SELECT {label}, {slot}, {REVISION}, %({person})s, 'expectation', %(call)s, '', false, 0, 20, now()
        FROM generate_series(%(first)s::bigint, %(last)s::bigint) n WHERE {labelled}
        """
        for label, slot, person, labelled in (
            (LABEL, SLOT, "one", f"({HAS_TWO} OR {IS_BEGUN})"),
            (OTHER_LABEL, OTHER_SLOT, "other", HAS_TWO),
        )
    ),
)


def load(dataset: Any, tools: Any, people: tuple[Any, Any], size: int) -> None:
    """Write `size` examples of about one kilobyte into an empty dataset, labelled by two people; PostgreSQL only."""
    import time

    from django.db import connection

    message = {"role": "user", "content": f"{WORDS * 11}#"}
    values = {
        "dataset": dataset.pk,
        "tools": tools.pk,
        "one": people[0].pk,
        "other": people[1].pk,
        "input": exact({"messages": [message]}),
        "call": exact(CALL),
        "began": int(time.time() * 1000) - size // 100,
    }
    with connection.cursor() as cursor:
        # Foreign keys are right by construction; checking them takes longer than writing.
        cursor.execute("SET session_replication_role = replica")
        for first in range(0, size, AT_ONCE):
            part = {"first": first, "last": min(first + AT_ONCE, size) - 1}
            for statement in STATEMENTS:
                cursor.execute(statement, values | part)
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("ANALYZE")

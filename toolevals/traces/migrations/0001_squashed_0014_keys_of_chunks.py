from importlib import import_module

from django.db import migrations

from toolevals.workspace.create_models import CreateModels

WORDS_OF_TRACES = import_module("toolevals.traces.migrations.0002_words_of_traces").Migration.operations


class Migration(migrations.Migration):
    """Takes the place of all before it in a new installation, which need not go through them."""

    initial = True
    replaces = [
        ("traces", "0001_initial"),
        ("traces", "0002_words_of_traces"),
        ("traces", "0003_came_at"),
        ("traces", "0004_span_verdicts"),
        ("traces", "0005_trace_examples"),
        ("traces", "0006_traces_of_examples_stay"),
        ("traces", "0007_promotions"),
        ("traces", "0007_growth"),
        ("traces", "0008_hours_of_calls"),
        ("traces", "0009_limits_of_a_trace"),
        ("traces", "0010_judges_of_traces"),
        ("traces", "0011_hours_know_traces"),
        ("traces", "0012_days_of_questions"),
        ("traces", "0013_hours_of_traces"),
        ("traces", "0014_keys_of_chunks"),
    ]
    dependencies = [
        ("labeling", "0001_squashed_0015_order_of_agents"),
        ("runs", "0001_squashed_0030_one_key_of_a_pair"),
        ("workspace", "0001_squashed_0007_token_scope"),
    ]
    operations = [CreateModels(replaces), *WORDS_OF_TRACES]

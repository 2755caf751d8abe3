from django.db import migrations

from toolevals.workspace.create_models import CreateModels


class Migration(migrations.Migration):
    """Takes the place of all before it in a new installation, which need not go through them."""

    initial = True
    replaces = [
        ("runs", "0001_initial"),
        ("runs", "0002_remarks_and_turns"),
        ("runs", "0003_argument_faults"),
        ("runs", "0004_episodes"),
        ("runs", "0005_fewer_indexes"),
        ("runs", "0006_judge_calibrations"),
        ("runs", "0007_packed_cases"),
        ("runs", "0008_thumbs"),
        ("runs", "0009_drift_checks"),
        ("runs", "0010_tryouts"),
        ("runs", "0011_turns_of_earlier_runs"),
        ("runs", "0012_judge_tolerance"),
        ("runs", "0013_tool_spending"),
        ("runs", "0014_counted_cases"),
        ("runs", "0015_packed_patterns"),
        ("runs", "0016_trial_tallies"),
        ("runs", "0017_case_injections"),
        ("runs", "0018_probe_checks"),
        ("runs", "0019_verdict_sums"),
        ("runs", "0020_unscored_episodes"),
        ("runs", "0021_recorded_rewards"),
        ("runs", "0022_case_values"),
        ("runs", "0023_case_findings"),
        ("runs", "0024_decided_by"),
        ("runs", "0025_kept_sums"),
        ("runs", "0026_trash"),
        ("runs", "0027_rereading"),
        ("runs", "0028_agents"),
        ("runs", "0029_baseline_agents"),
        ("runs", "0030_one_key_of_a_pair"),
    ]
    dependencies = [
        ("labeling", "0001_squashed_0015_order_of_agents"),
        ("registry", "0001_squashed_0002_trash"),
        ("workspace", "0001_squashed_0007_token_scope"),
    ]
    operations = [CreateModels(replaces)]

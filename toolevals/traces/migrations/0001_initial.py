import django.db.models.deletion
import toolevals.workspace.fields
from django.conf import settings
from django.db import migrations, models

from toolevals.workspace.create_models import CreateModels


def index_words(apps, schema_editor):
    """Index the words of traces on PostgreSQL; on SQLite they are looked for in the newest traces first, without it."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("CREATE INDEX trace_words ON traces_trace USING gin (to_tsvector('simple', text))")


class Migration(migrations.Migration):

    replaces = [('traces', '0016_spans_judged_and_weekly_schedules')]

    initial = True

    dependencies = [
        ('labeling', '0001_initial'),
        ('runs', '0001_initial'),
        ('workspace', '0001_initial'),
    ]

    operations = [
        CreateModels(
            models=[
                migrations.CreateModel(
                    name='Trace',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('trace_id', models.UUIDField()),
                        ('arrivals', models.PositiveIntegerField(default=0)),
                        ('spans', models.PositiveIntegerField(default=0)),
                        ('size', models.PositiveBigIntegerField(default=0)),
                        ('has_root', models.BooleanField(default=False)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('received_at', models.DateTimeField()),
                        ('due_at', models.DateTimeField(null=True)),
                        ('settled', models.PositiveIntegerField(default=0)),
                        ('name', models.CharField(blank=True, max_length=200)),
                        ('started_at', models.DateTimeField(null=True)),
                        ('duration_ms', models.FloatField(null=True)),
                        ('model', models.CharField(blank=True, max_length=120)),
                        ('agent', models.CharField(blank=True, max_length=120)),
                        ('agent_version', models.CharField(blank=True, max_length=80)),
                        ('session', models.CharField(blank=True, max_length=200)),
                        ('end_user', models.CharField(blank=True, max_length=200)),
                        ('input_tokens', models.PositiveBigIntegerField(null=True)),
                        ('output_tokens', models.PositiveBigIntegerField(null=True)),
                        ('cost', models.FloatField(null=True)),
                        ('calls', models.PositiveIntegerField(default=0)),
                        ('failed_calls', models.PositiveIntegerField(default=0)),
                        ('tools', toolevals.workspace.fields.DocumentField(default=list)),
                        ('error_classes', toolevals.workspace.fields.DocumentField(default=list)),
                        ('error', models.CharField(blank=True, max_length=500)),
                        ('request', models.CharField(blank=True, max_length=300)),
                        ('text', models.TextField(blank=True)),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='traces', to='workspace.project')),
                        ('is_cut', models.BooleanField(db_default=False, default=False)),
                    ],
                    options={
                        'indexes': [models.Index(condition=models.Q(('due_at__isnull', False)), fields=['due_at'], name='trace_due'), models.Index(fields=['project', '-id'], name='trace_newest'), models.Index(condition=models.Q(('settled__gt', 0)), fields=['project', 'session', '-id'], name='trace_session'), models.Index(condition=models.Q(('settled__gt', 0)), fields=['project', 'end_user', '-id'], name='trace_end_user'), models.Index(condition=models.Q(('settled__gt', 0)), fields=['project', 'agent', '-id'], name='trace_agent'), models.Index(condition=models.Q(('settled__gt', 0)), fields=['project', 'model', '-id'], name='trace_model'), models.Index(condition=models.Q(('settled__gt', 0)), fields=['project', 'agent_version', '-id'], name='trace_agent_version'), models.Index(fields=['project', 'duration_ms'], name='trace_duration'), models.Index(condition=models.Q(('cost__isnull', False)), fields=['project', 'cost'], name='trace_cost')],
                        'constraints': [models.UniqueConstraint(fields=('project', 'trace_id'), name='trace_of_a_project')],
                    },
                ),
                migrations.CreateModel(
                    name='ToolUse',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('span_id', models.CharField(blank=True, max_length=16)),
                        ('number', models.PositiveIntegerField()),
                        ('tool', models.CharField(max_length=200)),
                        ('duration_ms', models.FloatField(null=True)),
                        ('error_class', models.CharField(blank=True, max_length=10)),
                        ('arguments_fit', models.BooleanField(null=True)),
                        ('problem', models.CharField(blank=True, max_length=300)),
                        ('agent', models.CharField(blank=True, max_length=120)),
                        ('agent_version', models.CharField(blank=True, max_length=80)),
                        ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workspace.project')),
                        ('trace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tool_uses', to='traces.trace')),
                        ('came_at', models.DateTimeField()),
                    ],
                    options={
                        'indexes': [models.Index(fields=['project', 'came_at'], name='tool_use_time'), models.Index(fields=['project', 'tool', 'trace'], name='tool_use_of_a_tool'), models.Index(condition=models.Q(('error_class', ''), _negated=True), fields=['project', 'error_class', 'trace'], include=('tool',), name='tool_use_with_an_error'), models.Index(condition=models.Q(('arguments_fit', False)), fields=['project', 'trace'], include=('tool',), name='tool_use_that_does_not_fit')],
                        'constraints': [models.UniqueConstraint(fields=('trace', 'number'), name='tool_use_of_a_trace')],
                    },
                ),
                migrations.CreateModel(
                    name='SpanChunk',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('body', models.BinaryField()),
                        ('trace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='chunks', to='traces.trace')),
                        ('keys', models.TextField()),
                    ],
                ),
                migrations.CreateModel(
                    name='TraceSettings',
                    fields=[
                        ('project', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='trace_settings', serialize=False, to='workspace.project')),
                        ('retention_days', models.PositiveSmallIntegerField(default=30)),
                        ('sample_rate', models.FloatField(default=1.0)),
                        ('scrub', toolevals.workspace.fields.DocumentField(default=list)),
                        ('most_cost', models.FloatField(blank=True, null=True)),
                        ('most_tokens', models.PositiveBigIntegerField(blank=True, null=True)),
                    ],
                    options={
                        'constraints': [models.CheckConstraint(condition=models.Q(('sample_rate__range', (0, 1))), name='sample_rate_0_to_1'), models.CheckConstraint(condition=models.Q(('retention_days__gte', 1)), name='retention_of_a_day'), models.CheckConstraint(condition=models.Q(('most_cost__gte', 0)), name='most_cost_of_a_trace')],
                    },
                ),
                migrations.CreateModel(
                    name='SpanVerdict',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('number', models.PositiveIntegerField()),
                        ('span_id', models.CharField(blank=True, max_length=16)),
                        ('rule', models.CharField(max_length=60)),
                        ('version', models.PositiveSmallIntegerField()),
                        ('status', models.CharField(choices=[('passed', 'Passed'), ('failed', 'Failed'), ('unscored', 'Unscored'), ('errored', 'Errored')], max_length=8)),
                        ('value', models.FloatField(null=True)),
                        ('reason', models.CharField(blank=True, max_length=500)),
                        ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workspace.project')),
                        ('trace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='verdicts', to='traces.trace')),
                        ('judge_cost', models.FloatField(null=True)),
                        ('snapshot', models.CharField(blank=True, db_default='', max_length=120)),
                        ('tokens', models.PositiveIntegerField(null=True)),
                        ('judge', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='traces.tracejudge')),
                    ],
                    options={
                        'indexes': [models.Index(fields=['project', 'rule', 'status', 'trace'], name='span_verdict_of_a_rule')],
                        'constraints': [models.UniqueConstraint(fields=('trace', 'number', 'span_id'), name='verdict_on_a_span')],
                    },
                ),
                migrations.CreateModel(
                    name='TraceExample',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('turn', models.PositiveIntegerField()),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('example', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='traces', to='labeling.example')),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workspace.project')),
                        ('trace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='examples', to='traces.trace')),
                        ('is_folded', models.BooleanField(db_default=False, default=False)),
                        ('promotion', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='examples', to='traces.promotion')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('trace', 'turn', 'example'), name='example_of_a_turn'), models.UniqueConstraint(condition=models.Q(('is_folded', False)), fields=('example',), name='one_turn_an_example_is_made_of')],
                    },
                ),
                migrations.CreateModel(
                    name='Promotion',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('wanted', toolevals.workspace.fields.DocumentField(default=dict)),
                        ('strata', toolevals.workspace.fields.DocumentField(default=list)),
                        ('count', models.PositiveIntegerField(default=1)),
                        ('seed', models.PositiveIntegerField(default=1)),
                        ('turns', models.CharField(choices=[('every', 'every turn'), ('called', 'turns that called a tool'), ('one', 'one turn of each trace')], default='every', max_length=10)),
                        ('chosen', toolevals.workspace.fields.DocumentField(default=list)),
                        ('shows_first', models.BooleanField(default=False)),
                        ('state', models.CharField(choices=[('drawing', 'being drawn'), ('drawn', 'drawn, not made'), ('making', 'being made'), ('made', 'made'), ('undoing', 'being undone'), ('undone', 'undone')], default='drawing', max_length=10)),
                        ('plan', toolevals.workspace.fields.DocumentField(default=dict)),
                        ('drawn', models.PositiveIntegerField(default=0)),
                        ('made', models.PositiveIntegerField(default=0)),
                        ('folded', models.PositiveIntegerField(default=0)),
                        ('left_out', toolevals.workspace.fields.DocumentField(default=list)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('ended_at', models.DateTimeField(null=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.dataset')),
                        ('job', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='workspace.job')),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='promotions', to='workspace.project')),
                        ('schedule', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='promotions', to='traces.promotionschedule')),
                    ],
                    options={
                        'ordering': ['-id'],
                        'indexes': [models.Index(fields=['project', '-id'], name='promotion_project')],
                    },
                ),
                migrations.CreateModel(
                    name='PromotionSchedule',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('period', models.CharField(choices=[('hourly', 'every hour'), ('daily', 'every day'), ('weekly-monday', 'every week, on Monday'), ('weekly-tuesday', 'every week, on Tuesday'), ('weekly-wednesday', 'every week, on Wednesday'), ('weekly-thursday', 'every week, on Thursday'), ('weekly-friday', 'every week, on Friday'), ('weekly-saturday', 'every week, on Saturday'), ('weekly-sunday', 'every week, on Sunday')], default='daily', max_length=20)),
                        ('wanted', toolevals.workspace.fields.DocumentField(default=dict)),
                        ('strata', toolevals.workspace.fields.DocumentField(default=list)),
                        ('turns', models.CharField(choices=[('every', 'every turn'), ('called', 'turns that called a tool'), ('one', 'one turn of each trace')], default='every', max_length=10)),
                        ('count', models.PositiveIntegerField()),
                        ('most_waiting', models.PositiveIntegerField()),
                        ('is_on', models.BooleanField(default=True)),
                        ('due_at', models.DateTimeField()),
                        ('since', models.DateTimeField()),
                        ('skipped', models.CharField(blank=True, max_length=200)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.dataset')),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='promotion_schedules', to='workspace.project')),
                    ],
                    options={
                        'ordering': ['id'],
                        'indexes': [models.Index(condition=models.Q(('is_on', True)), fields=['due_at'], name='promotion_due')],
                    },
                ),
                migrations.CreateModel(
                    name='TraceJudge',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('rubric', models.CharField(max_length=50)),
                        ('is_on', models.BooleanField(default=True)),
                        ('share', models.FloatField()),
                        ('most_questions', models.PositiveIntegerField()),
                        ('most_tokens', models.PositiveBigIntegerField(null=True)),
                        ('most_cost', models.FloatField(null=True)),
                        ('busy_until', models.DateTimeField(null=True)),
                        ('failures', models.PositiveIntegerField(default=0)),
                        ('paused_until', models.DateTimeField(null=True)),
                        ('trouble', models.CharField(blank=True, max_length=500)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('judge', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='of_traces', to='runs.judge')),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='trace_judges', to='workspace.project')),
                        ('span_kind', models.CharField(blank=True, choices=[('', 'The whole trace'), ('tool', 'Each call of a tool (TOOL)'), ('model', 'Each call of a model (LLM)'), ('agent', 'Each agent (AGENT)')], db_default='', default='', max_length=10)),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(condition=models.Q(('is_on', True)), fields=('project', 'rubric'), name='one_trace_judge_a_rubric')],
                    },
                ),
                migrations.CreateModel(
                    name='TraceJudgeDay',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('day', models.DateField()),
                        ('questions', models.PositiveIntegerField(default=0)),
                        ('tokens', models.BigIntegerField(default=0)),
                        ('cost', models.FloatField(default=0.0)),
                        ('judge', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='days', to='traces.tracejudge')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('judge', 'day'), name='day_of_a_trace_judge')],
                    },
                ),
                migrations.CreateModel(
                    name='TraceQuestion',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('state', models.CharField(choices=[('waiting', 'waits'), ('judged', 'judged'), ('not_judged', 'not judged')], default='waiting', max_length=10)),
                        ('due_at', models.DateTimeField(null=True)),
                        ('tries', models.PositiveSmallIntegerField(default=0)),
                        ('inputs', models.CharField(blank=True, max_length=64)),
                        ('reason', models.CharField(blank=True, max_length=500)),
                        ('judge', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='questions', to='traces.tracejudge')),
                        ('trace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='questions', to='traces.trace')),
                        ('asked_on', models.DateField(null=True)),
                        ('span_id', models.CharField(blank=True, db_default='', default='', max_length=16)),
                    ],
                    options={
                        'indexes': [models.Index(condition=models.Q(('due_at__isnull', False)), fields=['judge', 'due_at'], name='trace_question_due'), models.Index(condition=models.Q(('state', 'not_judged')), fields=['judge', 'trace'], name='trace_question_not_judged'), models.Index(condition=models.Q(('asked_on__isnull', False)), fields=['judge', 'asked_on', 'trace'], name='trace_question_asked')],
                        'constraints': [models.UniqueConstraint(fields=('judge', 'trace', 'span_id'), name='question_about_a_span')],
                    },
                ),
                migrations.CreateModel(
                    name='TraceHour',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('hour', models.DateTimeField()),
                        ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workspace.project')),
                        ('calls', toolevals.workspace.fields.DocumentField(null=True)),
                        ('costs', toolevals.workspace.fields.DocumentField(null=True)),
                        ('verdicts', toolevals.workspace.fields.DocumentField(null=True)),
                    ],
                    options={
                        'indexes': [models.Index(condition=models.Q(('calls__isnull', True)), fields=['hour'], name='trace_hour_to_count')],
                        'constraints': [models.UniqueConstraint(fields=('project', 'hour'), name='trace_hour_of_a_project')],
                    },
                ),
            ],
        ),
        migrations.RunPython(index_words, migrations.RunPython.noop),
    ]

import django.db.models.deletion
import toolevals.workspace.fields
from django.conf import settings
from django.db import migrations, models

from toolevals.workspace.create_models import CreateModels


class Migration(migrations.Migration):

    replaces = [('reports', '0001_squashed_0007_agents')]

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
                    name='GateBadge',
                    fields=[
                        ('experiment', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='gate_badge', serialize=False, to='runs.experiment')),
                        ('key', models.CharField(max_length=43, unique=True)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                ),
                migrations.CreateModel(
                    name='HeldGate',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('gate', toolevals.workspace.fields.DocumentField()),
                        ('baseline_asked', models.CharField(blank=True, max_length=220)),
                        ('is_release_candidate', models.BooleanField(default=False)),
                        ('branch', models.CharField(blank=True, max_length=200)),
                        ('commit', models.CharField(blank=True, max_length=64)),
                        ('status', models.CharField(blank=True, max_length=10)),
                        ('result', toolevals.workspace.fields.DocumentField(null=True)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('baseline', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='runs.grading')),
                        ('consistency', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='runs.grading')),
                        ('grading', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='held_gates', to='runs.grading')),
                        ('job', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='held_gate', to='workspace.job')),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='held_gates', to='workspace.project')),
                        ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='held_gates', to='runs.run')),
                        ('name', models.CharField(blank=True, max_length=60)),
                        ('preview', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='held', to='reports.gatepreview')),
                    ],
                    options={
                        'indexes': [models.Index(fields=['project', 'id'], name='held_gate_newest'), models.Index(fields=['project', 'branch', 'id'], name='held_gate_branch')],
                    },
                ),
                migrations.CreateModel(
                    name='SuspectCount',
                    fields=[
                        ('version', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='labeling.datasetversion')),
                        ('basis', models.CharField(blank=True, max_length=64)),
                        ('voices', models.PositiveIntegerField(default=0)),
                        ('counted_at', models.DateTimeField(null=True)),
                        ('job', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='workspace.job')),
                    ],
                ),
                migrations.CreateModel(
                    name='Suspect',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('score', models.FloatField()),
                        ('score_with_labels', models.FloatField()),
                        ('kinds', models.CharField(blank=True, max_length=120)),
                        ('reasons', toolevals.workspace.fields.DocumentField(default=list)),
                        ('wavered', toolevals.workspace.fields.DocumentField(null=True)),
                        ('entry', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.versionentry')),
                        ('version', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.datasetversion')),
                    ],
                    options={
                        'indexes': [models.Index(fields=['version', '-score', 'entry'], name='suspect_rank')],
                    },
                ),
                migrations.CreateModel(
                    name='DialectReading',
                    fields=[
                        ('grading', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='dialects', serialize=False, to='runs.grading')),
                        ('columns', toolevals.workspace.fields.DocumentField()),
                        ('counts', toolevals.workspace.fields.DocumentField(null=True)),
                        ('means', toolevals.workspace.fields.DocumentField(default=dict)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('finished_at', models.DateTimeField(null=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('job', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='workspace.job')),
                        ('sums', toolevals.workspace.fields.DocumentField(null=True)),
                    ],
                ),
                migrations.CreateModel(
                    name='DialectCase',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('pattern', models.CharField(max_length=700)),
                        ('detail', toolevals.workspace.fields.DocumentField()),
                        ('case', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='dialects', to='runs.casegrade')),
                        ('reading', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='cases', to='reports.dialectreading')),
                    ],
                    options={
                        'indexes': [models.Index(fields=['reading', 'pattern', 'case'], name='dialect_pattern')],
                    },
                ),
                migrations.CreateModel(
                    name='PublicScore',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('benchmark', models.CharField(max_length=80)),
                        ('version', models.CharField(blank=True, max_length=40)),
                        ('metric', models.CharField(max_length=80)),
                        ('value', models.FloatField()),
                        ('count', models.PositiveIntegerField(null=True)),
                        ('published_on', models.DateField()),
                        ('source', models.URLField(max_length=500)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('ended_at', models.DateTimeField(null=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('ended_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='public_scores', to='workspace.project')),
                        ('agent', models.CharField(max_length=120)),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at__isnull', True)), fields=('project', 'benchmark', 'version', 'agent', 'metric'), name='one_public_score_in_force')],
                    },
                ),
                migrations.CreateModel(
                    name='NamedGate',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('name', models.SlugField(max_length=60)),
                        ('gate', toolevals.workspace.fields.DocumentField()),
                        ('baseline', models.CharField(blank=True, max_length=220)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('updated_at', models.DateTimeField(auto_now=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='named_gates', to='workspace.project')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('project', 'name'), name='named_gate_name')],
                    },
                ),
                migrations.CreateModel(
                    name='GatePreview',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('name', models.CharField(blank=True, max_length=60)),
                        ('gate', toolevals.workspace.fields.DocumentField()),
                        ('baseline', models.CharField(blank=True, max_length=220)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('job', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='gate_preview', to='workspace.job')),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gate_previews', to='workspace.project')),
                    ],
                ),
            ],
        ),
    ]

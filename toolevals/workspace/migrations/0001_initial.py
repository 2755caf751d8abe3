import django.db.models.deletion
import toolevals.workspace.fields
import toolevals.workspace.uploads.models
from django.conf import settings
from django.db import migrations, models

from toolevals.workspace.create_models import CreateModels


class Migration(migrations.Migration):

    replaces = [('workspace', '0009_next_batches_by_an_index')]

    initial = True

    dependencies = [
    ]

    operations = [
        CreateModels(
            models=[
                migrations.CreateModel(
                    name='User',
                    fields=[
                        ('password', models.CharField(max_length=128, verbose_name='password')),
                        ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('email', models.EmailField(max_length=254, unique=True)),
                        ('name', models.CharField(max_length=120)),
                        ('is_active', models.BooleanField(default=True)),
                        ('is_sample', models.BooleanField(default=False)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('is_installation_owner', models.BooleanField(default=False)),
                    ],
                    options={
                        'abstract': False,
                    },
                ),
                migrations.CreateModel(
                    name='SweepTask',
                    fields=[
                        ('name', models.CharField(max_length=120, primary_key=True, serialize=False)),
                        ('due_at', models.DateTimeField()),
                        ('ran_at', models.DateTimeField(null=True)),
                    ],
                ),
                migrations.CreateModel(
                    name='Membership',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('role', models.PositiveSmallIntegerField(choices=[(10, 'viewer'), (20, 'reviewer'), (30, 'adjudicator'), (40, 'owner')])),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='workspace.project')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('project', 'user'), name='one_membership_each')],
                    },
                ),
                migrations.CreateModel(
                    name='Project',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('slug', models.SlugField(max_length=60)),
                        ('name', models.CharField(max_length=120)),
                        ('labels_wanted', models.PositiveSmallIntegerField(default=2)),
                        ('labels_share', models.FloatField(default=1.0)),
                        ('decide_own', models.BooleanField(default=False)),
                        ('suggestions', models.BooleanField(default=False)),
                        ('undo_seconds', models.PositiveIntegerField(default=10)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('members', models.ManyToManyField(related_name='projects', through='workspace.Membership', to=settings.AUTH_USER_MODEL)),
                        ('deleted_at', models.DateTimeField(editable=False, null=True)),
                        ('deleted_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('deletion', toolevals.workspace.fields.DocumentField(editable=False, null=True)),
                        ('destroy_at', models.DateTimeField(editable=False, null=True)),
                        ('destroyed_at', models.DateTimeField(editable=False, null=True)),
                        ('tombstone', toolevals.workspace.fields.DocumentField(editable=False, null=True)),
                    ],
                    options={
                        'ordering': ['name', 'id'],
                        'constraints': [models.CheckConstraint(condition=models.Q(('labels_wanted__range', (1, 5))), name='labels_wanted_1_to_5'), models.CheckConstraint(condition=models.Q(('labels_share__range', (0, 1))), name='labels_share_0_to_1'), models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('slug',), name='project_slug')],
                    },
                ),
                migrations.CreateModel(
                    name='Job',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('kind', models.CharField(max_length=40)),
                        ('title', models.CharField(max_length=200)),
                        ('result_path', models.CharField(blank=True, max_length=300)),
                        ('state', models.CharField(choices=[('running', 'Running'), ('paused', 'Paused'), ('succeeded', 'Succeeded'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='running', max_length=12)),
                        ('stage', models.PositiveSmallIntegerField(default=0)),
                        ('priority', models.SmallIntegerField(default=0)),
                        ('report', toolevals.workspace.fields.DocumentField(default=dict)),
                        ('pace_since', models.DateTimeField(null=True)),
                        ('pace_done', models.PositiveIntegerField(default=0)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('finished_at', models.DateTimeField(null=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='workspace.project')),
                        ('trashed_with', models.UUIDField(null=True)),
                    ],
                    options={
                        'indexes': [models.Index(fields=['project', '-id'], name='job_project'), models.Index(condition=models.Q(('trashed_with__isnull', False)), fields=['trashed_with'], name='job_trashed'), models.Index(condition=models.Q(('state', 'running')), fields=['project', '-priority', 'id'], name='job_turn')],
                    },
                ),
                migrations.CreateModel(
                    name='IdempotencyKey',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('key', models.CharField(max_length=200)),
                        ('request_digest', models.CharField(max_length=64)),
                        ('status', models.PositiveSmallIntegerField(null=True)),
                        ('answer', toolevals.workspace.fields.DocumentField(null=True)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workspace.project')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('project', 'user', 'key'), name='one_answer_per_key')],
                    },
                ),
                migrations.CreateModel(
                    name='AuditEntry',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('verb', models.CharField(max_length=60)),
                        ('target_type', models.CharField(max_length=60)),
                        ('target_id', models.UUIDField()),
                        ('detail', toolevals.workspace.fields.DocumentField(default=dict)),
                        ('at', models.DateTimeField(auto_now_add=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('project', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='audit', to='workspace.project')),
                    ],
                    options={
                        'indexes': [models.Index(fields=['project', '-id'], name='audit_project'), models.Index(fields=['target_id', 'id'], name='audit_target')],
                    },
                ),
                migrations.CreateModel(
                    name='ApiToken',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('name', models.CharField(max_length=80)),
                        ('role', models.PositiveSmallIntegerField(choices=[(10, 'viewer'), (20, 'reviewer'), (30, 'adjudicator'), (40, 'owner')])),
                        ('digest', models.CharField(max_length=64, unique=True)),
                        ('prefix', models.CharField(max_length=12)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('last_used_at', models.DateTimeField(null=True)),
                        ('expires_at', models.DateTimeField(null=True)),
                        ('revoked_at', models.DateTimeField(null=True)),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tokens', to=settings.AUTH_USER_MODEL)),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tokens', to='workspace.project')),
                        ('scope', models.CharField(choices=[('project', 'all that its role may'), ('traces', 'sends traces, reads nothing')], default='project', max_length=10)),
                    ],
                ),
                migrations.CreateModel(
                    name='Secret',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('name', models.SlugField(max_length=60)),
                        ('sealed', models.TextField()),
                        ('changed_at', models.DateTimeField(auto_now=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='secrets', to='workspace.project')),
                        ('addresses', toolevals.workspace.fields.DocumentField(default=list)),
                    ],
                    options={
                        'ordering': ['name'],
                        'constraints': [models.UniqueConstraint(fields=('project', 'name'), name='secret_name')],
                    },
                ),
                migrations.CreateModel(
                    name='SignInFailure',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('email', models.CharField(max_length=254)),
                        ('address', models.CharField(max_length=45)),
                        ('at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'indexes': [models.Index(fields=['address', 'at'], name='sign_in_address'), models.Index(fields=['email', 'at'], name='sign_in_email')],
                    },
                ),
                migrations.CreateModel(
                    name='Upload',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('name', models.CharField(max_length=255)),
                        ('file', models.FileField(max_length=200, upload_to=toolevals.workspace.uploads.models.upload_path)),
                        ('size', models.PositiveBigIntegerField()),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uploads', to='workspace.project')),
                        ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                ),
                migrations.CreateModel(
                    name='Batch',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('stage', models.PositiveSmallIntegerField(default=0)),
                        ('number', models.PositiveIntegerField()),
                        ('task', models.CharField(max_length=120)),
                        ('queue', models.CharField(choices=[('io', 'Io'), ('grade', 'Grade'), ('judge', 'Judge'), ('agent', 'Agent')], default='io', max_length=10)),
                        ('payload', toolevals.workspace.fields.DocumentField(default=dict)),
                        ('size', models.PositiveIntegerField(default=1)),
                        ('done', models.PositiveIntegerField(default=0)),
                        ('state', models.CharField(choices=[('queued', 'Queued'), ('leased', 'Leased'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=12)),
                        ('attempts', models.PositiveSmallIntegerField(default=0)),
                        ('lease_token', models.UUIDField(null=True)),
                        ('due_at', models.DateTimeField()),
                        ('rung_at', models.DateTimeField(null=True)),
                        ('error', models.TextField(blank=True)),
                        ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='workspace.job')),
                    ],
                    options={
                        'indexes': [models.Index(condition=models.Q(('number', 1)), fields=['job'], name='batch_first'), models.Index(condition=models.Q(('state', 'queued')), fields=['queue', 'due_at', 'id'], name='batch_due'), models.Index(fields=['job', 'stage', 'state', 'queue', 'due_at', 'id'], name='batch_turn'), models.Index(condition=models.Q(('state', 'leased')), fields=['due_at'], name='batch_at_work'), models.Index(condition=models.Q(('rung_at__isnull', False), ('state', 'queued')), fields=['rung_at'], name='batch_rung')],
                        'constraints': [models.UniqueConstraint(fields=('job', 'stage', 'number'), name='batch_number')],
                    },
                ),
                migrations.CreateModel(
                    name='Visit',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('seen_at', models.DateTimeField()),
                        ('before', models.DateTimeField(null=True)),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workspace.project')),
                        ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('user', 'project'), name='one_visit_each')],
                    },
                ),
                migrations.CreateModel(
                    name='Invitation',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('email', models.EmailField(max_length=254)),
                        ('role', models.PositiveSmallIntegerField(choices=[(10, 'viewer'), (20, 'reviewer'), (30, 'adjudicator'), (40, 'owner')])),
                        ('digest', models.CharField(max_length=64, unique=True)),
                        ('state', models.CharField(choices=[('pending', 'Pending'), ('accepted', 'Accepted'), ('declined', 'Declined'), ('revoked', 'Revoked')], default='pending', max_length=10)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('expires_at', models.DateTimeField()),
                        ('ended_at', models.DateTimeField(null=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='workspace.project')),
                    ],
                    options={
                        'indexes': [models.Index(condition=models.Q(('state', 'pending')), fields=['email'], name='invitation_pending')],
                        'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'pending')), fields=('project', 'email'), name='one_pending_invitation_each')],
                    },
                ),
                migrations.CreateModel(
                    name='SignInAddress',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('address', models.CharField(max_length=45)),
                        ('used_at', models.DateTimeField(auto_now=True)),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('user', 'address'), name='sign_in_address_once')],
                    },
                ),
            ],
        ),
    ]

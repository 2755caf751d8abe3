import django.db.models.deletion
import toolevals.workspace.fields
from django.conf import settings
from django.db import DatabaseError, migrations, models, transaction

from toolevals.workspace.create_models import CreateModels

# As `ExampleQuerySet.named_like` compares.
STATEMENTS = (
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    "CREATE INDEX example_id_parts ON labeling_example USING gin (upper(external_id) gin_trgm_ops)",
)


def index_make(apps, schema_editor):
    """Index the parts of ids where the database is PostgreSQL and lets us; else they are found without it, slower."""
    connection = schema_editor.connection
    if connection.vendor != "postgresql":
        return
    try:
        with transaction.atomic(connection.alias), connection.cursor() as cursor:
            for statement in STATEMENTS:
                cursor.execute(statement)
    except DatabaseError:
        return


class Migration(migrations.Migration):

    replaces = [('labeling', '0001_squashed_0015_order_of_agents')]

    initial = True

    dependencies = [
        ('registry', '0001_initial'),
        ('workspace', '0001_initial'),
    ]

    operations = [
        CreateModels(
            models=[
                migrations.CreateModel(
                    name='Dataset',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('slug', models.SlugField(max_length=60)),
                        ('name', models.CharField(max_length=120)),
                        ('description', models.TextField(blank=True)),
                        ('guideline', models.TextField(blank=True)),
                        ('order', models.CharField(choices=[('oldest', 'oldest first'), ('deficits', 'what the strata lack, then oldest first'), ('random', 'random, by a seed'), ('disagreement', 'what agents disagree about, then oldest first')], default='oldest', max_length=12)),
                        ('order_seed', models.PositiveIntegerField(default=0)),
                        ('quotas', toolevals.workspace.fields.DocumentField(blank=True, default=dict)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('default_tools', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='registry.registryversion')),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='datasets', to='workspace.project')),
                        ('shown_strata', toolevals.workspace.fields.DocumentField(blank=True, default=list)),
                        ('decided_by', models.CharField(db_default='expected', default='expected', max_length=60)),
                        ('deleted_at', models.DateTimeField(editable=False, null=True)),
                        ('deleted_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('deletion', toolevals.workspace.fields.DocumentField(editable=False, null=True)),
                        ('destroy_at', models.DateTimeField(editable=False, null=True)),
                        ('destroyed_at', models.DateTimeField(editable=False, null=True)),
                        ('tombstone', toolevals.workspace.fields.DocumentField(editable=False, null=True)),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('project', 'slug'), name='dataset_slug', violation_error_message='Dataset with this Project and Slug already exists.')],
                    },
                ),
                migrations.CreateModel(
                    name='Label',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('answer', models.CharField(choices=[('expectation', 'an expectation'), ('ambiguous', 'ambiguous: more than one reading'), ('missing_tool', 'the right tool is missing')], default='expectation', max_length=12)),
                        ('expectation', toolevals.workspace.fields.DocumentField(null=True)),
                        ('rationale', models.TextField(blank=True)),
                        ('flagged', models.BooleanField(default=False)),
                        ('guideline', models.PositiveIntegerField(default=0)),
                        ('suggestion', toolevals.workspace.fields.DocumentField(null=True)),
                        ('withdrawn_at', models.DateTimeField(null=True)),
                        ('seconds', models.FloatField(default=0)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('reviewer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('slot', models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name='labels', to='labeling.labelslot')),
                        ('revision', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='labels', to='labeling.revision')),
                        ('is_first', models.BooleanField(db_default=True, default=True)),
                    ],
                    options={
                        'indexes': [models.Index(fields=['reviewer', 'revision'], name='label_reviewer')],
                    },
                ),
                migrations.CreateModel(
                    name='Revision',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('number', models.PositiveIntegerField()),
                        ('digest', models.CharField(max_length=64)),
                        ('input', toolevals.workspace.fields.DocumentField()),
                        ('resolution', models.CharField(choices=[('open', 'to label'), ('disagreed', 'to adjudicate'), ('passed_on', 'passed on, to adjudicate'), ('resolved', 'gold'), ('set_aside', 'set aside')], default='open', max_length=12)),
                        ('set_aside_as', models.CharField(blank=True, db_default='', max_length=12)),
                        ('round', models.PositiveSmallIntegerField(db_default=1, default=1)),
                        ('disagreement', models.FloatField(db_default=0, default=0)),
                        ('settles_at', models.DateTimeField(null=True)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('example', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='labeling.example')),
                        ('gold', models.OneToOneField(null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='labeling.gold')),
                        ('tools', models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='registry.toollist')),
                    ],
                    options={
                        'indexes': [models.Index(fields=['resolution', 'id'], name='revision_resolution'), models.Index(condition=models.Q(('settles_at__isnull', False)), fields=['settles_at'], name='revision_settles')],
                        'constraints': [models.UniqueConstraint(fields=('example', 'number'), name='revision_number'), models.UniqueConstraint(fields=('example', 'digest'), name='revision_digest')],
                    },
                ),
                migrations.CreateModel(
                    name='Adjudication',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('answer', models.CharField(choices=[('expectation', 'an expectation'), ('ambiguous', 'ambiguous: more than one reading'), ('missing_tool', 'the right tool is missing')], default='expectation', max_length=12)),
                        ('expectation', toolevals.workspace.fields.DocumentField(null=True)),
                        ('rationale', models.TextField()),
                        ('seconds', models.FloatField(default=0)),
                        ('before', toolevals.workspace.fields.DocumentField(blank=True, default=dict)),
                        ('withdrawn_at', models.DateTimeField(null=True)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('adjudicator', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('revision', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='adjudications', to='labeling.revision')),
                    ],
                ),
                migrations.CreateModel(
                    name='CalibrationRound',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('name', models.CharField(max_length=120)),
                        ('comes_first', models.BooleanField(default=False)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('closed_at', models.DateTimeField(null=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='calibrations', to='labeling.dataset')),
                    ],
                    options={
                        'ordering': ['-id'],
                    },
                ),
                migrations.CreateModel(
                    name='AgreementReport',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('key', models.CharField(max_length=64)),
                        ('document', toolevals.workspace.fields.DocumentField(null=True)),
                        ('counted_at', models.DateTimeField(null=True)),
                        ('job', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='workspace.job')),
                        ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.dataset')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('dataset', 'key'), name='agreement_report_key')],
                    },
                ),
                migrations.CreateModel(
                    name='DatasetVersion',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('number', models.PositiveIntegerField()),
                        ('note', models.CharField(blank=True, max_length=300)),
                        ('tags', toolevals.workspace.fields.DocumentField(blank=True, default=list)),
                        ('size', models.PositiveIntegerField()),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='labeling.dataset')),
                        ('gold_sources', toolevals.workspace.fields.DocumentField(default=None, null=True)),
                    ],
                    options={
                        'ordering': ['-number'],
                        'constraints': [models.UniqueConstraint(fields=('dataset', 'number'), name='dataset_version_number')],
                    },
                ),
                migrations.CreateModel(
                    name='Example',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('external_id', models.CharField(max_length=200)),
                        ('bucket', models.CharField(blank=True, max_length=40)),
                        ('no_call_kind', models.CharField(blank=True, max_length=40)),
                        ('difficulty', models.CharField(blank=True, max_length=40)),
                        ('edge_case', models.CharField(blank=True, max_length=60)),
                        ('error_class', models.CharField(blank=True, max_length=40)),
                        ('effect', models.CharField(blank=True, max_length=10)),
                        ('category', models.CharField(blank=True, max_length=60)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('dataset', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='examples', to='labeling.dataset')),
                        ('current', models.OneToOneField(null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='labeling.revision')),
                        ('decided_by', models.CharField(blank=True, db_default='', default='', max_length=60)),
                    ],
                    options={
                        'indexes': [models.Index(fields=['dataset', 'id'], name='example_dataset')],
                        'constraints': [models.UniqueConstraint(fields=('dataset', 'external_id'), name='example_external_id')],
                    },
                ),
                migrations.CreateModel(
                    name='Gold',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('expectation', toolevals.workspace.fields.DocumentField()),
                        ('rationale', models.TextField(blank=True)),
                        ('source', models.CharField(choices=[('agreed', 'Agreed'), ('adjudicated', 'Adjudicated'), ('single', 'Single'), ('imported', 'Imported'), ('second_look', 'Second Look'), ('restored', 'Restored')], max_length=12)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('adjudication', models.ForeignKey(null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='labeling.adjudication')),
                        ('revision', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='golds', to='labeling.revision')),
                        ('after_agents', models.TextField(blank=True, db_default='', default='')),
                    ],
                ),
                migrations.CreateModel(
                    name='GoldTool',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('part', models.CharField(choices=[('expected', 'Expected'), ('answered', 'Answered'), ('near', 'Near'), ('estimated', 'Estimated')], max_length=10)),
                        ('tool', models.CharField(max_length=200)),
                        ('kinds', models.CharField(blank=True, max_length=120)),
                        ('gold', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tools', to='labeling.gold')),
                    ],
                    options={
                        'indexes': [models.Index(fields=['tool', 'part', 'gold'], name='tool_gold')],
                        'constraints': [models.UniqueConstraint(fields=('gold', 'part', 'tool'), name='gold_tool')],
                    },
                ),
                migrations.CreateModel(
                    name='GuidelineVersion',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('number', models.PositiveIntegerField()),
                        ('text', models.TextField(blank=True)),
                        ('note', models.CharField(blank=True, max_length=300)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='guidelines', to='labeling.dataset')),
                    ],
                    options={
                        'ordering': ['-number'],
                        'constraints': [models.UniqueConstraint(fields=('dataset', 'number'), name='guideline_number')],
                    },
                ),
                migrations.CreateModel(
                    name='ImportPart',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('number', models.PositiveIntegerField()),
                        ('lines', models.PositiveIntegerField()),
                        ('problems', toolevals.workspace.fields.DocumentField(default=list)),
                        ('remarks', toolevals.workspace.fields.DocumentField(default=list)),
                        ('errors', models.PositiveIntegerField(default=0)),
                        ('warnings', models.PositiveIntegerField(default=0)),
                        ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.dataset')),
                        ('job', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workspace.job')),
                        ('placed', models.PositiveIntegerField(db_default=0, default=0)),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('job', 'number'), name='import_part_number')],
                    },
                ),
                migrations.CreateModel(
                    name='KeyBindings',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('bindings', toolevals.workspace.fields.DocumentField(blank=True, default=dict)),
                        ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                ),
                migrations.CreateModel(
                    name='LabelReading',
                    fields=[
                        ('label', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='reading', serialize=False, to='labeling.label')),
                        ('tool', models.CharField(max_length=200)),
                        ('meaning', models.CharField(max_length=32)),
                        ('arguments', toolevals.workspace.fields.DocumentField(default=dict)),
                    ],
                    options={
                        'indexes': [models.Index(fields=['tool', 'label'], name='reading_tool')],
                    },
                ),
                migrations.CreateModel(
                    name='Feedback',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('differs', models.BooleanField()),
                        ('seen_at', models.DateTimeField(null=True)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('adjudication', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.adjudication')),
                        ('reviewer', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('gold', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.gold')),
                        ('label', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='feedback', to='labeling.label')),
                    ],
                    options={
                        'indexes': [models.Index(fields=['reviewer', 'differs', '-id'], name='feedback_reviewer'), models.Index(condition=models.Q(('differs', True), ('seen_at', None)), fields=['reviewer'], name='feedback_unseen')],
                    },
                ),
                migrations.CreateModel(
                    name='LabelBatch',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('name', models.CharField(max_length=120)),
                        ('due_on', models.DateField(null=True)),
                        ('note', models.CharField(blank=True, max_length=300)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('closed_at', models.DateTimeField(null=True)),
                        ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='labeling.dataset')),
                        ('owner', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'ordering': ['-id'],
                        'constraints': [models.UniqueConstraint(fields=('dataset', 'name'), name='label_batch_name')],
                    },
                ),
                migrations.CreateModel(
                    name='LabelSlot',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('round', models.PositiveSmallIntegerField(db_default=1, default=1)),
                        ('number', models.PositiveSmallIntegerField()),
                        ('state', models.CharField(choices=[('open', 'Open'), ('claimed', 'Claimed'), ('submitted', 'Submitted'), ('closed', 'Closed')], default='open', max_length=12)),
                        ('priority', models.SmallIntegerField(default=0, null=True)),
                        ('turn', models.IntegerField(db_default=0, default=0)),
                        ('claimed_at', models.DateTimeField(null=True)),
                        ('lease_until', models.DateTimeField(null=True)),
                        ('assignee', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('batch', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='slots', to='labeling.labelbatch')),
                        ('dataset', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.dataset')),
                        ('reviewer', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('revision', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='slots', to='labeling.revision')),
                    ],
                    options={
                        'indexes': [models.Index(condition=models.Q(('reviewer__isnull', False)), fields=['reviewer', 'state'], name='slot_reviewer_state'), models.Index(condition=models.Q(('batch__isnull', False)), fields=['batch'], name='slot_batch'), models.Index(condition=models.Q(('assignee__isnull', False)), fields=['assignee'], name='slot_assignee'), models.Index(condition=models.Q(('priority__isnull', False)), fields=['dataset', '-priority', 'turn', 'revision', 'id'], name='slot_queue')],
                        'constraints': [models.UniqueConstraint(fields=('revision', 'round', 'number'), name='slot_number'), models.UniqueConstraint(fields=('revision', 'round', 'reviewer'), name='slot_reviewer'), models.CheckConstraint(condition=models.Q(('priority__isnull', False), ('state__in', ['submitted', 'closed']), _connector='OR'), name='slot_open_is_queued')],
                    },
                ),
                migrations.CreateModel(
                    name='LintReport',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('document', toolevals.workspace.fields.DocumentField()),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lints', to='labeling.dataset')),
                        ('job', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='workspace.job')),
                    ],
                    options={
                        'ordering': ['-id'],
                    },
                ),
                migrations.CreateModel(
                    name='Origin',
                    fields=[
                        ('revision', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='origin', serialize=False, to='labeling.revision')),
                        ('document', toolevals.workspace.fields.DocumentField()),
                    ],
                ),
                migrations.CreateModel(
                    name='Draft',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('document', toolevals.workspace.fields.DocumentField()),
                        ('saved_at', models.DateTimeField(auto_now=True)),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('revision', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='drafts', to='labeling.revision')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('revision', 'user'), name='one_draft_each')],
                    },
                ),
                migrations.CreateModel(
                    name='Dispute',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('reason', models.TextField()),
                        ('expectation', toolevals.workspace.fields.DocumentField(null=True)),
                        ('settled_at', models.DateTimeField(null=True)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('revision', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='disputes', to='labeling.revision')),
                    ],
                    options={
                        'indexes': [models.Index(condition=models.Q(('settled_at', None)), fields=['revision'], name='dispute_open')],
                    },
                ),
                migrations.CreateModel(
                    name='Comment',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('text', models.TextField()),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('asker', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('author', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('revision', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='labeling.revision')),
                        ('is_unanswered', models.BooleanField(db_default=False, default=False)),
                    ],
                    options={
                        'ordering': ['id'],
                        'indexes': [models.Index(fields=['revision', 'asker', 'id'], name='comment_thread'), models.Index(fields=['asker', 'id'], name='comment_asker'), models.Index(condition=models.Q(('is_unanswered', True)), fields=['asker'], name='comment_unanswered')],
                    },
                ),
                migrations.CreateModel(
                    name='CalibrationItem',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('position', models.PositiveIntegerField()),
                        ('round', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='labeling.calibrationround')),
                        ('revision', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.revision')),
                    ],
                    options={
                        'ordering': ['position'],
                        'constraints': [models.UniqueConstraint(fields=('round', 'position'), name='calibration_position'), models.UniqueConstraint(fields=('round', 'revision'), name='calibration_revision')],
                    },
                ),
                migrations.CreateModel(
                    name='ProposedExample',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('tool', models.CharField(max_length=200)),
                        ('parameter', models.CharField(max_length=300)),
                        ('kind', models.CharField(max_length=40)),
                        ('input', toolevals.workspace.fields.DocumentField()),
                        ('expectation', toolevals.workspace.fields.DocumentField(null=True)),
                        ('state', models.CharField(choices=[('open', 'Open'), ('accepted', 'Accepted'), ('rejected', 'Rejected')], default='open', max_length=10)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='proposals', to='labeling.dataset')),
                        ('example', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='labeling.example')),
                        ('origin', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.revision')),
                        ('tools', models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='registry.toollist')),
                    ],
                    options={
                        'indexes': [models.Index(fields=['dataset', 'state', 'id'], name='proposal_state')],
                        'constraints': [models.UniqueConstraint(fields=('dataset', 'tool', 'parameter', 'kind', 'origin'), name='one_proposal_each')],
                    },
                ),
                migrations.CreateModel(
                    name='Skip',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('reason', models.CharField(blank=True, max_length=300)),
                        ('undone_at', models.DateTimeField(null=True)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('reviewer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('revision', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='skips', to='labeling.revision')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(condition=models.Q(('undone_at', None)), fields=('revision', 'reviewer'), name='one_skip_each')],
                    },
                ),
                migrations.CreateModel(
                    name='StagedExample',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('line', models.PositiveIntegerField()),
                        ('example_id', models.UUIDField()),
                        ('gold_id', models.UUIDField()),
                        ('external_id', models.CharField(max_length=200)),
                        ('digest', models.CharField(max_length=64)),
                        ('input', toolevals.workspace.fields.DocumentField()),
                        ('expectation', toolevals.workspace.fields.DocumentField(null=True)),
                        ('rationale', models.TextField(blank=True)),
                        ('bucket', models.CharField(blank=True, max_length=40)),
                        ('no_call_kind', models.CharField(blank=True, max_length=40)),
                        ('difficulty', models.CharField(blank=True, max_length=40)),
                        ('edge_case', models.CharField(blank=True, max_length=60)),
                        ('error_class', models.CharField(blank=True, max_length=40)),
                        ('effect', models.CharField(blank=True, max_length=10)),
                        ('category', models.CharField(blank=True, max_length=60)),
                        ('origin', toolevals.workspace.fields.DocumentField(null=True)),
                        ('part', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rows', to='labeling.importpart')),
                        ('tools', models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='registry.toollist')),
                        ('fate', models.CharField(blank=True, db_default='', max_length=60)),
                        ('decided_by', models.CharField(blank=True, db_default='', default='', max_length=60)),
                    ],
                    options={
                        'indexes': [models.Index(fields=['part', 'external_id'], name='staged_external_id')],
                    },
                ),
                migrations.CreateModel(
                    name='Suggestion',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('source', models.CharField(max_length=200)),
                        ('expectation', toolevals.workspace.fields.DocumentField()),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('revision', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='suggestion', to='labeling.revision')),
                    ],
                ),
                migrations.CreateModel(
                    name='VersionEntry',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('position', models.PositiveIntegerField()),
                        ('gold', models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='labeling.gold')),
                        ('revision', models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='labeling.revision')),
                        ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='labeling.datasetversion')),
                        ('decided_by', models.CharField(db_default='expected', default='expected', max_length=60)),
                    ],
                    options={
                        'ordering': ['position'],
                        'constraints': [models.UniqueConstraint(fields=('version', 'position'), name='version_position'), models.UniqueConstraint(fields=('version', 'revision'), name='version_revision')],
                    },
                ),
                migrations.CreateModel(
                    name='CalibrationAnswer',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('answer', models.CharField(choices=[('expectation', 'an expectation'), ('ambiguous', 'ambiguous: more than one reading'), ('missing_tool', 'the right tool is missing')], max_length=12)),
                        ('expectation', toolevals.workspace.fields.DocumentField(null=True)),
                        ('rationale', models.TextField(blank=True)),
                        ('seconds', models.FloatField(default=0)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('reviewer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='labeling.calibrationitem')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('item', 'reviewer'), name='one_calibration_answer_each')],
                    },
                ),
                migrations.CreateModel(
                    name='CoverageCount',
                    fields=[
                        ('dataset', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='labeling.dataset')),
                        ('document', toolevals.workspace.fields.DocumentField(null=True)),
                        ('counted_at', models.DateTimeField(null=True)),
                        ('job', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='workspace.job')),
                    ],
                ),
                migrations.CreateModel(
                    name='QuestionView',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('revision', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='question_views', to='labeling.revision')),
                        ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'indexes': [models.Index(fields=['user'], name='question_view_user')],
                        'constraints': [models.UniqueConstraint(fields=('revision', 'user'), name='question_view_once')],
                    },
                ),
                migrations.CreateModel(
                    name='SpareLabel',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('round', models.PositiveSmallIntegerField()),
                        ('answer', models.CharField(choices=[('expectation', 'an expectation'), ('ambiguous', 'ambiguous: more than one reading'), ('missing_tool', 'the right tool is missing')], default='expectation', max_length=12)),
                        ('expectation', toolevals.workspace.fields.DocumentField(null=True)),
                        ('rationale', models.TextField(blank=True)),
                        ('flagged', models.BooleanField(default=False)),
                        ('guideline', models.PositiveIntegerField(default=0)),
                        ('suggestion', toolevals.workspace.fields.DocumentField(null=True)),
                        ('seconds', models.FloatField(default=0)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('reviewer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('revision', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='spare_labels', to='labeling.revision')),
                    ],
                    options={
                        'indexes': [models.Index(fields=['reviewer', 'revision'], name='spare_reviewer')],
                    },
                ),
                migrations.CreateModel(
                    name='LookPlan',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('run', models.PositiveIntegerField()),
                        ('agent', models.CharField(max_length=120)),
                        ('planted_share', models.FloatField(default=0)),
                        ('seed', models.PositiveIntegerField(default=0)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('ended_at', models.DateTimeField(null=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='look_plans', to='labeling.dataset')),
                    ],
                    options={
                        'ordering': ['-id'],
                        'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('dataset',), name='one_look_plan')],
                    },
                ),
                migrations.CreateModel(
                    name='LookProposal',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('expectation', toolevals.workspace.fields.DocumentField()),
                        ('is_planted', models.BooleanField(default=False)),
                        ('plan', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='proposals', to='labeling.lookplan')),
                        ('revision', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='look_proposals', to='labeling.revision')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('plan', 'revision'), name='one_look_proposal_each')],
                    },
                ),
                migrations.CreateModel(
                    name='SecondLook',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('answer', models.CharField(blank=True, choices=[('kept', 'kept the label'), ('went_over', 'went over to the proposal')], default='', max_length=12)),
                        ('remark', models.TextField(blank=True)),
                        ('shown_at', models.DateTimeField(auto_now_add=True)),
                        ('answered_at', models.DateTimeField(null=True)),
                        ('label', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='second_looks', to='labeling.label')),
                        ('proposal', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='looks', to='labeling.lookproposal')),
                        ('reviewer', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('revision', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='second_looks', to='labeling.revision')),
                    ],
                    options={
                        'indexes': [models.Index(fields=['revision', 'reviewer'], name='second_look_reviewer'), models.Index(fields=['reviewer', '-id'], name='second_look_own')],
                        'constraints': [models.UniqueConstraint(fields=('proposal', 'reviewer'), name='one_second_look_each')],
                    },
                ),
                migrations.CreateModel(
                    name='StagedChange',
                    fields=[
                        ('staged', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='change', serialize=False, to='labeling.stagedexample')),
                        ('example_id', models.UUIDField()),
                        ('current_id', models.UUIDField()),
                        ('onto_id', models.UUIDField()),
                        ('gold_id', models.UUIDField(null=True)),
                        ('disputes', models.PositiveIntegerField(default=0)),
                        ('words', models.TextField(blank=True)),
                        ('gold_fate', models.CharField(blank=True, choices=[('replaced', 'Replaced'), ('disputed', 'Disputed'), ('kept', 'Kept')], max_length=8)),
                        ('sets_strata', models.BooleanField()),
                        ('sets_decided_by', models.BooleanField()),
                        ('part', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.importpart')),
                    ],
                ),
            ],
        ),
        migrations.RunPython(index_make, migrations.RunPython.noop),
    ]

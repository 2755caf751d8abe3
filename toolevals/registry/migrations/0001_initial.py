import django.db.models.deletion
import toolevals.workspace.fields
from django.conf import settings
from django.db import migrations, models

from toolevals.workspace.create_models import CreateModels


class Migration(migrations.Migration):

    replaces = [('registry', '0001_squashed_0002_trash')]

    initial = True

    dependencies = [
        ('workspace', '0001_initial'),
    ]

    operations = [
        CreateModels(
            models=[
                migrations.CreateModel(
                    name='Registry',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('slug', models.SlugField(max_length=60)),
                        ('name', models.CharField(max_length=120)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='registries', to='workspace.project')),
                        ('deleted_at', models.DateTimeField(editable=False, null=True)),
                        ('deleted_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('deletion', toolevals.workspace.fields.DocumentField(editable=False, null=True)),
                        ('destroy_at', models.DateTimeField(editable=False, null=True)),
                        ('destroyed_at', models.DateTimeField(editable=False, null=True)),
                        ('tombstone', toolevals.workspace.fields.DocumentField(editable=False, null=True)),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('project', 'slug'), name='registry_slug', violation_error_message='Registry with this Project and Slug already exists.')],
                    },
                ),
                migrations.CreateModel(
                    name='ToolList',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('digest', models.CharField(max_length=64)),
                        ('size', models.PositiveIntegerField()),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tool_lists', to='workspace.project')),
                        ('specs', models.ManyToManyField(through='registry.ToolListEntry', to='registry.toolspec')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('project', 'digest'), name='tool_list_digest')],
                    },
                ),
                migrations.CreateModel(
                    name='RegistryVersion',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('number', models.PositiveIntegerField()),
                        ('note', models.CharField(blank=True, max_length=300)),
                        ('losses', toolevals.workspace.fields.DocumentField(default=list)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('registry', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='registry.registry')),
                        ('tools', models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name='registry_versions', to='registry.toollist')),
                    ],
                    options={
                        'ordering': ['-number'],
                        'constraints': [models.UniqueConstraint(fields=('registry', 'number'), name='registry_version_number')],
                    },
                ),
                migrations.CreateModel(
                    name='ToolSpec',
                    fields=[
                        ('id', toolevals.workspace.fields.PublicIdField(serialize=False)),
                        ('digest', models.CharField(max_length=64)),
                        ('name', models.CharField(max_length=200)),
                        ('document', toolevals.workspace.fields.DocumentField()),
                        ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tool_specs', to='workspace.project')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('project', 'digest'), name='tool_spec_digest')],
                    },
                ),
                migrations.CreateModel(
                    name='ToolListEntry',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('position', models.PositiveIntegerField()),
                        ('tools', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='registry.toollist')),
                        ('spec', models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='registry.toolspec')),
                    ],
                    options={
                        'ordering': ['position'],
                        'constraints': [models.UniqueConstraint(fields=('tools', 'position'), name='tool_list_position')],
                    },
                ),
            ],
        ),
    ]

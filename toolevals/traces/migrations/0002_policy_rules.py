import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('registry', '0003_guard_counts'),
        ('traces', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='spanverdict',
            name='rule',
            field=models.CharField(max_length=80),
        ),
        migrations.AlterField(
            model_name='spanverdict',
            name='version',
            field=models.PositiveIntegerField(),
        ),
        migrations.CreateModel(
            name='TracePolicy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('share', models.FloatField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('policy', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='of_traces', to='registry.policy')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('share__range', (0, 1))), name='share_of_a_trace_policy')],
            },
        ),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('workspace', '0006_installation_settings'),
    ]

    operations = [
        migrations.AlterField(
            model_name='delivery',
            name='kind',
            field=models.CharField(choices=[('run.finished', 'a run is finished'), ('run.failed', 'a run fails'), ('gate.failed', 'a gate fails'), ('dataset.done', 'every example of a dataset is decided'), ('judge.drifted', 'a judge drifts'), ('tools.changed', 'tool definitions change'), ('digest.weekly', 'the weekly digest, on Mondays'), ('mention', 'a member mentions me'), ('work.waiting', 'work waits for me, once a day'), ('password.reset', 'a person asks for a new password'), ('test', 'a test')], max_length=20),
        ),
    ]

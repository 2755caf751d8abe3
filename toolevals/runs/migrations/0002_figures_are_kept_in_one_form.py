from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0001_initial'),
    ]

    operations = [
        migrations.RemoveField(model_name='grading', name='verdict_sums'),
        migrations.RemoveField(model_name='packedcases', name='kinds'),
        migrations.RemoveField(model_name='packedcases', name='outcomes'),
        migrations.RemoveField(model_name='packedcases', name='patterns'),
        migrations.DeleteModel(name='TrialTallies'),
    ]

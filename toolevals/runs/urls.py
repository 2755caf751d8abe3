"""List the pages of `toolevals.runs`."""

from __future__ import annotations

from django.urls import path

from toolevals.runs.agents import views as agents
from toolevals.runs.drift import views as drifting
from toolevals.runs.judge_calibrations import views as calibrations
from toolevals.runs.judging import views as judges
from toolevals.runs.live import views as live
from toolevals.runs.probes import views as probing
from toolevals.runs.rereading import views as rereading
from toolevals.runs.rubrics import views as rubrics
from toolevals.runs.runs import views as runs
from toolevals.runs.second_looks import views as second_looks
from toolevals.runs.simulators import views as simulators
from toolevals.runs.thumbs import views as thumbs
from toolevals.workspace.jobs.views import JOB_ACTS

app_name = "runs"
urlpatterns = [
    path("runs/", runs.runs, name="runs"),
    path("datasets/<slug:dataset>/second-looks/", second_looks.second_looks, name="second-looks"),
    path("datasets/<slug:dataset>/second-looks.csv", second_looks.second_looks_csv, name="second-looks-csv"),
    path("runs.csv", runs.runs_csv, name="runs-csv"),
    path("runs/new/", runs.new, name="new"),
    path("runs/live/", live.live, name="live"),
    path("runs/upload/", runs.upload, name="upload"),
    path("runs/recorded/", runs.recorded_new, name="recorded-new"),
    *(path(f"runs/<int:number>/{act}/", runs.act, {"act": act}, name=f"run-{act}") for act in JOB_ACTS),
    path("runs/<int:number>/regrade/", runs.regrade, name="run-regrade"),
    path("runs/<int:number>/errored/", runs.errored, name="run-errored"),
    path("runs/<int:number>/failing/", runs.failing, name="run-failing"),
    path("runs/<int:number>/failing.jsonl", runs.failing_jsonl, name="failing-jsonl"),
    path("runs/<int:number>/failing.csv", runs.failing_csv, name="failing-csv"),
    path("runs/<int:number>/judging/", judges.judging, name="judging"),
    path("runs/<int:number>/unscored/", judges.unscored, name="unscored"),
    path("runs/<int:number>/gradings/<int:grading>/re-read/", rereading.rereading_new, name="rereading-new"),
    path("re-readings/<uuid:rereading>/", rereading.rereading, name="rereading"),
    path("re-readings/<uuid:rereading>.csv", rereading.rereading_csv, name="rereading-csv"),
    path("re-readings/<uuid:rereading>/read/", rereading.reread, name="reread"),
    path("re-readings/<uuid:rereading>/close/", rereading.rereading_end, name="rereading-close"),
    path("re-readings/<uuid:rereading>/cancel/", rereading.rereading_stop, name="rereading-cancel"),
    path("judges/", judges.judges, name="judges"),
    path("judges.csv", judges.judges_csv, name="judges-csv"),
    path("judges/new/", judges.judge_new, name="judge-new"),
    path("judges/layer/", judges.layer, name="judges-layer"),
    path("judges/<uuid:judge>/", calibrations.judge, name="judge"),
    path("judges/<uuid:judge>/thumbs/", thumbs.thumbs, name="thumbs"),
    path("judges/<uuid:judge>/thumbs.csv", thumbs.thumbs_csv, name="thumbs-csv"),
    path("judges/<uuid:judge>/calibrate/", calibrations.calibration_new, name="calibration-new"),
    path("judges/calibrations/<uuid:calibration>/", calibrations.calibration, name="calibration"),
    path("judges/calibrations/<uuid:calibration>/close/", calibrations.calibration_end, name="calibration-close"),
    path("judges/calibrations/<uuid:calibration>.csv", calibrations.calibration_csv, name="calibration-csv"),
    path("judges/calibrations/<uuid:calibration>/rate/", calibrations.rate, name="rate"),
    path("judges/<uuid:judge>/drift/", drifting.drift_new, name="drift-new"),
    path("judges/drift/<uuid:drift>/", drifting.drift, name="drift"),
    path("judges/drift/<uuid:drift>.csv", drifting.drift_csv, name="drift-csv"),
    path("judges/<uuid:judge>/probes/", probing.probes_new, name="probes-new"),
    path("judges/probes/<uuid:probing>/", probing.probes, name="probes"),
    path("judges/probes/<uuid:probing>.csv", probing.probes_csv, name="probes-csv"),
    path("judges/probes/<uuid:probing>/<slug:probe>/", probing.probe, name="probe"),
    path("judges/<uuid:judge>/change/", judges.judge_switch, name="judge-change"),
    path("rubrics/", rubrics.rubrics, name="rubrics"),
    path("rubrics.csv", rubrics.rubrics_csv, name="rubrics-csv"),
    path("rubrics/new/", rubrics.rubric_new, name="rubric-new"),
    path("rubrics/tried/<uuid:tryout>/", rubrics.tryout, name="tryout"),
    path("rubrics/tried/<uuid:tryout>/keep/", rubrics.tryout_keep, name="tryout-keep"),
    path("rubrics/tried/<uuid:tryout>.csv", rubrics.tryout_csv, name="tryout-csv"),
    path("simulators/", simulators.simulators, name="simulators"),
    path("simulators.csv", simulators.simulators_csv, name="simulators-csv"),
    path("simulators/new/", simulators.simulator_new, name="simulator-new"),
    path("simulators/<uuid:simulator>/", simulators.simulator, name="simulator"),
    path("simulators/tools/<slug:dataset>.csv", simulators.tools_csv, name="simulated-tools-csv"),
    path("agents/", agents.agents, name="agents"),
    path("agents.csv", agents.agents_csv, name="agents-csv"),
    path("experiments/", agents.experiments, name="experiments"),
    path("experiments.csv", agents.experiments_csv, name="experiments-csv"),
]

"""List the addresses of `toolevals.runs` in the REST interface."""

from __future__ import annotations

from django.urls import path

from toolevals.runs.drift import api as drifting
from toolevals.runs.judge_calibrations import api as calibrating
from toolevals.runs.judging import api as judging
from toolevals.runs.live import api as live
from toolevals.runs.probes import api as probing
from toolevals.runs.rereading import api as rereading
from toolevals.runs.rubrics import api as tryouts
from toolevals.runs.runs import api as runs
from toolevals.runs.second_looks import api as second_looks
from toolevals.runs.simulators import api as simulators
from toolevals.runs.thumbs import api as thumbs

app_name = "runs-api"
urlpatterns = [
    path("agents/", runs.Agents.as_view(), name="agents"),
    path("experiments/", runs.Experiments.as_view(), name="experiments"),
    path("simulators/", simulators.Simulators.as_view(), name="simulators"),
    path("simulators/<uuid:simulator>/", simulators.SimulatorDetail.as_view(), name="simulator"),
    path("datasets/<slug:dataset>/simulator/", simulators.DatasetSimulator.as_view(), name="dataset-simulator"),
    path("datasets/<slug:dataset>/simulator/tools/", simulators.DatasetTools.as_view(), name="simulated-tools"),
    path("datasets/<slug:dataset>/second-looks/", second_looks.DatasetSecondLooks.as_view(), name="second-looks"),
    path("runs/", runs.Runs.as_view(), name="runs"),
    path("runs/predictions/", runs.Predictions.as_view(), name="predictions"),
    path("runs/live/", live.LiveRuns.as_view(), name="live"),
    path("runs/live/estimate/", live.LiveEstimate.as_view(), name="live-estimate"),
    path("runs/<int:number>/", runs.RunDetail.as_view(), name="run"),
    path("runs/<int:number>/errored/", runs.Errored.as_view(), name="errored"),
    path("runs/<int:number>/repeat/", runs.Repeat.as_view(), name="repeat"),
    path("runs/<int:number>/repeat/estimate/", runs.RepeatEstimate.as_view(), name="repeat-estimate"),
    path("runs/<int:number>/failing/", runs.Failing.as_view(), name="failing"),
    path("runs/<int:number>/failing.jsonl", runs.FailingLines.as_view(), name="failing-jsonl"),
    path("runs/<int:number>/failing.csv", runs.FailingTable.as_view(), name="failing-csv"),
    path("judges/", judging.Judges.as_view(), name="judges"),
    path("judges/<uuid:judge>/", judging.JudgeDetail.as_view(), name="judge"),
    path("judges/<uuid:judge>/thumbs/", thumbs.Thumbs.as_view(), name="thumbs"),
    path("runs/<int:number>/cases/<uuid:case>/thumbs/", thumbs.CaseThumbs.as_view(), name="case-thumbs"),
    path("judges/<uuid:judge>/calibrations/", calibrating.Calibrations.as_view(), name="calibrations"),
    path("judge-calibrations/<uuid:calibration>/", calibrating.CalibrationDetail.as_view(), name="calibration"),
    path(
        "judge-calibrations/<uuid:calibration>/close/", calibrating.CalibrationEnd.as_view(), name="calibration-close"
    ),
    path(
        "judge-calibrations/<uuid:calibration>/results/",
        calibrating.CalibrationResults.as_view(),
        name="calibration-results",
    ),
    path(
        "judge-calibrations/<uuid:calibration>/raters/",
        calibrating.CalibrationRaters.as_view(),
        name="calibration-raters",
    ),
    path("judge-calibrations/<uuid:calibration>/ratings/", calibrating.Ratings.as_view(), name="ratings"),
    path("judges/<uuid:judge>/drift-checks/", drifting.DriftChecks.as_view(), name="drift-checks"),
    path("judge-drift-checks/<uuid:drift>/", drifting.DriftCheckDetail.as_view(), name="drift-check"),
    path("judge-drift-checks/<uuid:drift>/cases/", drifting.DriftCases.as_view(), name="drift-cases"),
    path("judges/<uuid:judge>/probe-estimate/", probing.ProbeEstimateView.as_view(), name="probe-estimate"),
    path("judges/<uuid:judge>/probe-checks/", probing.ProbeChecks.as_view(), name="probe-checks"),
    path("judge-probe-checks/<uuid:probing>/", probing.ProbeCheckDetail.as_view(), name="probe-check"),
    path("judge-probe-checks/<uuid:probing>/probes/", probing.ProbeResults.as_view(), name="probe-results"),
    path("rubrics/", judging.Rubrics.as_view(), name="rubrics"),
    path("rubric-tryouts/", tryouts.Tryouts.as_view(), name="tryouts"),
    path("rubric-tryouts/<uuid:tryout>/", tryouts.TryoutDetail.as_view(), name="tryout"),
    path("rubric-tryouts/<uuid:tryout>/cases/", tryouts.TryoutCases.as_view(), name="tryout-cases"),
    path("runs/<int:number>/re-readings/", rereading.Rereadings.as_view(), name="rereadings"),
    path("re-readings/<uuid:rereading>/", rereading.RereadingDetail.as_view(), name="rereading"),
    path("re-readings/<uuid:rereading>/cases/", rereading.RereadCases.as_view(), name="rereading-cases"),
    path("re-readings/<uuid:rereading>/close/", rereading.RereadingEnd.as_view(), name="rereading-close"),
    path("re-readings/<uuid:rereading>/cancel/", rereading.RereadingStop.as_view(), name="rereading-cancel"),
    path("re-readings/<uuid:rereading>/readings/", rereading.Readings.as_view(), name="readings"),
    path("runs/<int:number>/judging/", judging.Judging.as_view(), name="judging"),
    path("runs/<int:number>/unscored/", judging.UnscoredQuestions.as_view(), name="unscored"),
    path("runs/<int:number>/gradings/", runs.Gradings.as_view(), name="gradings"),
    path("runs/<int:number>/gradings/<int:grading>/", runs.GradingDetail.as_view(), name="grading"),
    path("runs/<int:number>/cases/", runs.Cases.as_view(), name="cases"),
    path("runs/<int:number>/cases/<uuid:case>/", runs.CaseDetail.as_view(), name="case"),
]

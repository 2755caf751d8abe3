"""Pages of `reports`."""

from django.urls import path

from reports.views import arguments, bundle, case, cases, downloads, floors, gates, matrix, reliability, run, trends

app_name = "reports"
urlpatterns = [
    path("runs/<int:number>/", run.run_overview, name="run"),
    path("runs/<int:number>/matrix/", matrix.matrix, name="matrix"),
    path("runs/<int:number>/matrix/cell/", matrix.cell, name="cell"),
    path("runs/<int:number>/matrix.csv", downloads.matrix_csv, name="matrix-csv"),
    path("runs/<int:number>/tools.csv", downloads.tools_csv, name="tools-csv"),
    path("runs/<int:number>/layers.csv", downloads.layers_csv, name="layers-csv"),
    path("runs/<int:number>/judges.csv", downloads.judges_csv, name="judges-csv"),
    path("runs/<int:number>/judged.csv", downloads.judged_csv, name="judged-csv"),
    path("runs/<int:number>/cases.csv", downloads.cases_csv, name="cases-csv"),
    path("runs/<int:number>/state.csv", downloads.state_csv, name="state-csv"),
    path("runs/<int:number>/arguments/", arguments.arguments, name="arguments"),
    path("runs/<int:number>/arguments.csv", arguments.arguments_csv, name="arguments-csv"),
    path("runs/<int:number>/bundle/", bundle.bundle, name="bundle"),
    path("runs/<int:number>/bundle/<uuid:bundle>/", bundle.bundle_file, name="bundle-file"),
    path("runs/<int:number>/reliability/", reliability.reliability, name="reliability"),
    path("runs/<int:number>/reliability.csv", reliability.reliability_csv, name="reliability-csv"),
    path("runs/<int:number>/trials.csv", reliability.trials_csv, name="trials-csv"),
    path("runs/<int:number>/steps.csv", reliability.steps_csv, name="steps-csv"),
    path("runs/<int:number>/cases/", cases.cases, name="cases"),
    path("runs/<int:number>/cases/<uuid:case_id>/", case.case_page, name="case"),
    path("runs/<int:number>/cases/<uuid:case_id>/dispute/", case.dispute, name="dispute"),
    path("datasets/<slug:dataset>/versions/<str:version>/floors/", floors.floors, name="floors"),
    path("datasets/<slug:dataset>/versions/<str:version>/floors.csv", floors.floors_csv, name="floors-csv"),
    path("gates/", gates.gates, name="gates"),
    path("gates.csv", gates.gates_file, name="gates-csv"),
    path("gates/<uuid:gate>/", gates.gate, name="gate"),
    path("gates/<uuid:gate>.csv", gates.gate_file, name="gate-csv"),
    path("gates/<uuid:gate>/checks/<int:number>/", gates.check, name="gate-check"),
    path("experiments/<slug:experiment>/badge/", gates.badge_change, name="badge-change"),
    path("experiments/<slug:experiment>/trends/", trends.trends, name="trends"),
    path("experiments/<slug:experiment>/trends.csv", downloads.trends_csv, name="trends-csv"),
]

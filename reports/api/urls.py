"""List the addresses of `reports` in the REST interface."""

from __future__ import annotations

from django.urls import path

from reports.cases import api as cases
from reports.compare import api as compared_parts
from reports.compare import api as comparison
from reports.dialects import api as dialects
from reports.digest import api as digest
from reports.downloads import api as downloads
from reports.gates import api as gates
from reports.golds import api as golds
from reports.guard import api as guard
from reports.issues import api as issues
from reports.matrix import api as matrix
from reports.preconditions import api as preconditions
from reports.public_scores import api as public_scores
from reports.report_file import api as report_file
from reports.run import api as run
from reports.solved import api as solved
from reports.suspects import api as suspects
from reports.tool_drift import api as tool_drift
from reports.trends import api as trends

app_name = "reports-api"
urlpatterns = [
    *(path(f"runs/<int:number>/{name}/", view.as_view(), name=name) for name, view in run.RUN_TABLES.items()),
    path("runs/<int:number>/matrix/cell/", matrix.CellView.as_view(), name="cell"),
    path("runs/<int:number>/graded-cases/", cases.GradedCasesView.as_view(), name="graded-cases"),
    path("runs/<int:number>/judged-cases/", cases.JudgedCasesView.as_view(), name="judged-cases"),
    path("runs/<int:number>/state-differences/", cases.StateDifferencesView.as_view(), name="state-differences"),
    path("runs/<int:number>/remarks/", cases.RemarksView.as_view(), name="remarks"),
    path("runs/<int:number>/cases/<uuid:case_id>/remarks/", cases.CaseRemarksView.as_view(), name="case-remarks"),
    path("runs/<int:number>/layers/", run.LayersView.as_view(), name="layers"),
    path("runs/<int:number>/bundle/", downloads.BundleView.as_view(), name="bundle"),
    path("runs/<int:number>/report-file/", report_file.ReportFileView.as_view(), name="report-file"),
    path("runs/<int:number>/files/<slug:table>/", downloads.TableView.as_view(), name="table"),
    path("files/<uuid:file>/", downloads.TableFileView.as_view(), name="table-file"),
    path("bundles/<uuid:bundle>/", downloads.BundleFileView.as_view(), name="bundle-file"),
    path("runs/<int:number>/episodes/", run.EpisodesView.as_view(), name="episodes"),
    path("runs/<int:number>/dialects/", dialects.DialectsView.as_view(), name="dialects"),
    path("runs/<int:number>/dialects/cases/", dialects.DialectCasesView.as_view(), name="dialect-cases"),
    path("runs/<int:number>/reliability/", run.ReliabilityView.as_view(), name="reliability"),
    path("runs/<int:number>/trials/", run.TrialsView.as_view(), name="trials"),
    path("runs/<int:number>/golds/", golds.GoldsView.as_view(), name="golds"),
    path(
        "runs/<int:number>/golds/<int:before>/<int:after>/cases/", golds.GoldChangesView.as_view(), name="gold-changed"
    ),
    path("runs/<int:number>/gates/", gates.RunGates.as_view(), name="run-gates"),
    path("runs/<int:number>/benchmarks/", public_scores.RunPublicScoresView.as_view(), name="run-benchmarks"),
    path("benchmarks/", public_scores.PublicScoresView.as_view(), name="benchmarks"),
    path("benchmarks/import/", public_scores.PublicScoresImportView.as_view(), name="benchmarks-import"),
    path("benchmarks/<uuid:score>/", public_scores.PublicScoreView.as_view(), name="benchmark"),
    path("digest/", digest.DigestView.as_view(), name="digest"),
    path("issues/", issues.IssuesView.as_view(), name="issues"),
    path("issues/<uuid:issue>/", issues.IssueView.as_view(), name="issue"),
    *(
        path(f"issues/<uuid:issue>/{act}/", view.as_view(), name=f"issue-{act}")
        for act, view in issues.ISSUE_ACTS.items()
    ),
    path("gates/", gates.HeldGates.as_view(), name="gates"),
    path("gates/<uuid:gate>/", gates.HeldGateDetail.as_view(), name="gate"),
    path("named-gates/", gates.NamedGatesView.as_view(), name="named-gates"),
    path("named-gates/<slug:name>/", gates.NamedGateView.as_view(), name="named-gate"),
    path("registries/<slug:registry>/source/", tool_drift.ToolSourceView.as_view(), name="tool-source"),
    path("registries/<slug:registry>/source/look/", tool_drift.ToolSourceLookView.as_view(), name="tool-source-look"),
    path(
        "registries/<slug:registry>/source/publish/",
        tool_drift.ToolSourcePublishView.as_view(),
        name="tool-source-publish",
    ),
    path("policies/", guard.PoliciesView.as_view(), name="policies"),
    path("policies/<slug:policy>/", guard.PolicyDetail.as_view(), name="policy"),
    path(
        "policies/<slug:policy>/preconditions/",
        preconditions.PreconditionsView.as_view(),
        name="policy-preconditions",
    ),
    path(
        "policies/<slug:policy>/preconditions/conversations/",
        preconditions.PreconditionConversationsView.as_view(),
        name="policy-precondition",
    ),
    path("policies/<slug:policy>/active/", guard.PolicyActiveView.as_view(), name="policy-active"),
    path("policies/<slug:policy>/refusals/<uuid:refusal>/mark/", guard.RefusalMarkView.as_view(), name="refusal-mark"),
    path("policies/<slug:policy>/days/", guard.PolicyDaysView.as_view(), name="policy-days"),
    path("policies/<slug:policy>/refusals/", guard.PolicyRefusalsView.as_view(), name="policy-refusals"),
    path("policies/<slug:policy>/versions/", guard.PolicyVersionsView.as_view(), name="policy-versions"),
    path("policies/<slug:policy>/versions/<int:number>/", guard.PolicyVersionDetail.as_view(), name="policy-version"),
    path("policies/<slug:policy>/versions/<int:number>/rates/", guard.PolicyRatesView.as_view(), name="policy-rates"),
    path("gate-previews/", gates.GatePreviewsView.as_view(), name="gate-previews"),
    path("gate-previews/<uuid:preview>/", gates.GatePreviewView.as_view(), name="gate-preview"),
    path("runs/<int:number>/compare/<int:candidate>/", comparison.CompareView.as_view(), name="compare"),
    path(
        "runs/<int:number>/compare/<int:candidate>/tools/", comparison.CompareToolsView.as_view(), name="compare-tools"
    ),
    path(
        "runs/<int:number>/compare/<int:candidate>/matrix/",
        comparison.CompareMatrixView.as_view(),
        name="compare-matrix",
    ),
    path(
        "runs/<int:number>/compare/<int:candidate>/registry/",
        comparison.CompareRegistryView.as_view(),
        name="compare-registry",
    ),
    path(
        "runs/<int:number>/compare/<int:candidate>/strata/",
        compared_parts.CompareStrataView.as_view(),
        name="compare-strata",
    ),
    path(
        "runs/<int:number>/compare/<int:candidate>/judges/",
        compared_parts.CompareJudgesView.as_view(),
        name="compare-judges",
    ),
    path(
        "runs/<int:number>/compare/<int:candidate>/metrics/",
        compared_parts.CompareMetricsView.as_view(),
        name="compare-metrics",
    ),
    path(
        "runs/<int:number>/compare/<int:candidate>/parameters/",
        compared_parts.CompareParametersView.as_view(),
        name="compare-parameters",
    ),
    path(
        "runs/<int:number>/compare/<int:candidate>/spending/",
        compared_parts.CompareSpendingView.as_view(),
        name="compare-spending",
    ),
    path(
        "runs/<int:number>/compare/<int:candidate>/cases/", comparison.CompareCasesView.as_view(), name="compare-cases"
    ),
    path(
        "datasets/<slug:dataset>/versions/<str:version>/baseline-agents/",
        run.BaselineAgentsView.as_view(),
        name="baseline-agents",
    ),
    path("datasets/<slug:dataset>/versions/<str:version>/suspects/", suspects.SuspectsView.as_view(), name="suspects"),
    path("solved/", solved.SolvedView.as_view(), name="solved"),
    path("agents/trends/", trends.AgentTrendsView.as_view(), name="agent-trends"),
    path("experiments/<slug:experiment>/trends/", trends.TrendsView.as_view(), name="trends"),
]

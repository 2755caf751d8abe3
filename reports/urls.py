"""List the pages of `reports`."""

from django.urls import path

from reports.cases import views as cases
from reports.compare import views as compare
from reports.costs import views as costs
from reports.dialects import views as dialects
from reports.digest import views as digest
from reports.downloads import views as downloads
from reports.dropped import views as dropped
from reports.gates import views as gates
from reports.golds import views as golds
from reports.guard import rule_views as guard_rules
from reports.guard import views as guard
from reports.home.production_comparison import production_comparison
from reports.issues import views as issues
from reports.matrix import views as matrix
from reports.preconditions import views as preconditions
from reports.public_scores import views as public_scores
from reports.recovery import views as recovery
from reports.reliability import views as reliability
from reports.report_file import views as report_file
from reports.run import views as run
from reports.solved import views as solved
from reports.suspects import views as suspects
from reports.tool_drift import views as tool_drift
from reports.trends import views as trends

# Tables that a file holds as the zip of the run does, and those that can be long.
WHOLE = (
    "layers",
    "metrics",
    "proxies",
    "judges",
    "failures",
    "remarks",
    "reactions",
    "overreach",
    "findings",
    "readings",
    "steps",
    "recovery",
    "dialects",
    "dialect-pairs",
    "dialect-reasons",
    "golds",
)
LONG = ("judged", "cases", "state", "trials", "episodes")

app_name = "reports"
urlpatterns = [
    *(path(f"runs/<int:number>/{name}.csv", downloads.whole_table(name), name=f"{name}-csv") for name in WHOLE),
    *(path(f"runs/<int:number>/{name}.csv", downloads.long_table(name), name=f"{name}-csv") for name in LONG),
    path("registries/<slug:registry>/source/", tool_drift.tool_source, name="tool-source"),
    path("registries/<slug:registry>/source/changes.csv", tool_drift.changes_csv, name="tool-source-csv"),
    path("registries/<slug:registry>/source/gold.csv", tool_drift.misfits_csv, name="tool-source-gold-csv"),
    path("policies/", guard.policies, name="policies"),
    path("policies.csv", guard.policies_csv, name="policies-csv"),
    path("policies/<slug:policy>/", guard.policy, name="policy"),
    path("policies/<slug:policy>/versions.csv", guard.versions_csv, name="policy-versions-csv"),
    path("policies/<slug:policy>/days.csv", guard.days_csv, name="policy-days-csv"),
    path("policies/<slug:policy>/delete/", guard.policy_drop, name="policy-delete"),
    path("policies/<slug:policy>/preconditions/", preconditions.preconditions, name="policy-preconditions"),
    path("policies/<slug:policy>/preconditions.csv", preconditions.preconditions_csv, name="policy-preconditions-csv"),
    path(
        "policies/<slug:policy>/preconditions/conversations/",
        preconditions.precondition_conversations,
        name="policy-precondition",
    ),
    path(
        "policies/<slug:policy>/preconditions/conversations.csv",
        preconditions.precondition_conversations_csv,
        name="policy-precondition-csv",
    ),
    path("policies/<slug:policy>/<int:number>/", guard.policy_version, name="policy-version"),
    path("policies/<slug:policy>/<int:number>/try/", guard.policy_try, name="policy-try"),
    path("policies/<slug:policy>/<int:number>/rules.csv", guard.rules_csv, name="policy-rules-csv"),
    path("policies/<slug:policy>/<int:number>/since/<int:before>/", guard.policy_changes_page, name="policy-changes"),
    path("policy-rates/<uuid:rates>/<slug:rule>/", guard_rules.refusals, name="policy-refusals"),
    path("policy-rates/<uuid:rates>/<slug:rule>/refusals.csv", guard_rules.refusals_csv, name="policy-refusals-csv"),
    path("policy-rates/<uuid:rates>/<slug:rule>/mark/", guard_rules.mark, name="policy-refusal-mark"),
    path("runs/<int:number>/", run.run_overview, name="run"),
    path("runs/<int:number>/matrix/", matrix.matrix, name="matrix"),
    path("runs/<int:number>/matrix/cell/", matrix.cell, name="cell"),
    path("runs/<int:number>/beside/<int:candidate>/", production_comparison, name="beside"),
    path("runs/<int:number>/matrix.csv", downloads.matrix_csv, name="matrix-csv"),
    path("runs/<int:number>/tools.csv", downloads.tools_csv, name="tools-csv"),
    path("runs/<int:number>/arguments/", run.arguments, name="arguments"),
    path("runs/<int:number>/arguments.csv", run.arguments_csv, name="arguments-csv"),
    path("runs/<int:number>/spending/", costs.spending, name="spending"),
    path("runs/<int:number>/spending.csv", costs.spending_csv, name="spending-csv"),
    path("runs/<int:number>/recorded/", run.recorded, name="recorded"),
    path("runs/<int:number>/recorded.csv", run.recorded_csv, name="recorded-csv"),
    path("runs/<int:number>/files/<slug:table>/", downloads.table, name="table"),
    path("runs/<int:number>/files/<slug:table>/<uuid:file>/", downloads.send_table_file, name="table-file"),
    path("runs/<int:number>/bundle/", downloads.bundle, name="bundle"),
    path("runs/<int:number>/bundle/<uuid:bundle>/", downloads.bundle_file, name="bundle-file"),
    path("runs/<int:number>/report.html", report_file.send_report_file, name="report-file"),
    path("runs/<int:number>/reliability/", reliability.reliability, name="reliability"),
    path("runs/<int:number>/reliability.csv", reliability.reliability_csv, name="reliability-csv"),
    path("runs/<int:number>/variance.csv", reliability.variance_csv, name="variance-csv"),
    path("runs/<int:number>/recovery/", recovery.recovery, name="recovery"),
    path("runs/<int:number>/dialects/", dialects.dialects, name="dialects"),
    path("runs/<int:number>/dialect-cases.csv", dialects.cases_csv, name="dialect-cases-csv"),
    path("runs/<int:number>/cases/", cases.cases, name="cases"),
    path("runs/<int:number>/cases/<uuid:case_id>/", cases.case_page, name="case"),
    path("runs/<int:number>/cases/<uuid:case_id>/dispute/", cases.dispute, name="dispute"),
    path("runs/<int:number>/cases/<uuid:case_id>/tag/", cases.tag, name="case-tag"),
    path("runs/<int:number>/cases/<uuid:case_id>/thumb/", cases.thumb, name="thumb"),
    path("runs/<int:number>/cases/<uuid:case_id>/note/", cases.note, name="case-note"),
    path("runs/<int:number>/compare/", compare.compare_with, name="compare-with"),
    path("runs/<int:number>/compare/<int:candidate>/", compare.compare, name="compare"),
    *(
        path(
            f"runs/<int:number>/compare/<int:candidate>/{name}.csv",
            compare.whole_table(name),
            name=f"compare-{name}-csv",
        )
        for name in compare.TABLES
    ),
    path("runs/<int:number>/compare/<int:candidate>/strata.csv", compare.strata_csv, name="compare-strata-csv"),
    path("runs/<int:number>/compare/<int:candidate>/cases.csv", compare.cases_csv, name="compare-cases-csv"),
    path("runs/<int:number>/compare/<int:candidate>/cases/", compare.compare_cases, name="compare-cases"),
    path("runs/<int:number>/compare/<int:candidate>/cases/<uuid:revision>/", compare.compare_case, name="compare-case"),
    path(
        "datasets/<slug:dataset>/versions/<str:version>/baseline-agents/",
        run.baseline_agents,
        name="baseline-agents",
    ),
    path(
        "datasets/<slug:dataset>/versions/<str:version>/baseline-agents.csv",
        run.baseline_agents_csv,
        name="baseline-agents-csv",
    ),
    path("runs/<int:number>/golds/", golds.golds, name="golds"),
    path("runs/<int:number>/golds/<int:before>/<int:after>/", golds.gold_changed, name="gold-changed"),
    path("runs/<int:number>/golds/<int:before>/<int:after>/cases.csv", golds.gold_changed_csv, name="gold-changed-csv"),
    path("runs/<int:number>/gates/", gates.run_gates, name="run-gates"),
    path("runs/<int:number>/gates/hold/", gates.run_gate_hold, name="run-gate-hold"),
    path("runs/<int:number>/gates.csv", gates.run_gates_csv, name="run-gates-csv"),
    path("files/", dropped.drop, name="drop"),
    path("files/<uuid:upload>/", dropped.dropped, name="dropped"),
    path("files/<uuid:upload>/discard/", dropped.dropped_discard, name="dropped-discard"),
    path("files/<uuid:upload>/<slug:target>/", dropped.dropped_store, name="dropped-store"),
    path("benchmarks/", public_scores.benchmarks, name="benchmarks"),
    path("benchmarks.csv", public_scores.benchmarks_csv, name="benchmarks-csv"),
    path("benchmarks/import/", public_scores.benchmarks_import, name="benchmarks-import"),
    path("benchmarks/<uuid:score>/withdraw/", public_scores.benchmark_withdraw, name="benchmark-withdraw"),
    path("gates/", gates.gates, name="gates"),
    path("gates.csv", gates.gates_file, name="gates-csv"),
    path("gates/new/", gates.named_gate_new, name="named-gate-new"),
    path("gates/named/<slug:name>/", gates.named_gate, name="named-gate"),
    path("gates/named/<slug:name>/edit/", gates.named_gate_edit, name="named-gate-edit"),
    path("gates/named/<slug:name>/delete/", gates.named_gate_drop, name="named-gate-delete"),
    path("gates/named/<slug:name>/preview/", gates.named_gate_try, name="named-gate-preview"),
    path("gates/named/<slug:name>.json", gates.named_gate_file, {"ending": "json"}, name="named-gate-json"),
    path("gates/named/<slug:name>.yaml", gates.named_gate_file, {"ending": "yaml"}, name="named-gate-yaml"),
    path("gates/previews/<uuid:preview>/", gates.gate_preview, name="gate-preview"),
    path("gates/previews/<uuid:preview>.csv", gates.gate_preview_csv, name="gate-preview-csv"),
    path("gates/<uuid:gate>/", gates.gate, name="gate"),
    path("gates/<uuid:gate>.csv", gates.gate_file, name="gate-csv"),
    path("gates/<uuid:gate>/checks/<int:number>/", gates.check, name="gate-check"),
    path("experiments/<slug:experiment>/badge/", gates.badge_change, name="badge-change"),
    path("datasets/<slug:dataset>/versions/<str:version>/suspects/", suspects.suspects, name="suspects"),
    path("datasets/<slug:dataset>/versions/<str:version>/suspects.csv", suspects.suspects_csv, name="suspects-csv"),
    path(
        "datasets/<slug:dataset>/versions/<str:version>/suspects/<uuid:suspected>/dispute/",
        suspects.suspect_dispute,
        name="suspect-dispute",
    ),
    path("digest/", digest.digest, name="digest"),
    path("digest.csv", digest.digest_csv, name="digest-csv"),
    path("issues/", issues.issues, name="issues"),
    path("runs/<int:number>/issues/", issues.run_changes, name="run-issues"),
    path("issues.csv", issues.issues_csv, name="issues-csv"),
    path("issues/<uuid:issue>/", issues.issue, name="issue"),
    path("issues/<uuid:issue>/cases.csv", issues.issue_cases_csv, name="issue-cases-csv"),
    path("issues/<uuid:issue>/gate/", issues.issue_gate, name="issue-gate"),
    path("issues/<uuid:issue>/examples/", issues.issue_promote, name="issue-promote"),
    path("issues/<uuid:issue>/run/", issues.issue_rerun, name="issue-rerun"),
    path("issues/<uuid:issue>/traces.csv", issues.issue_traces_csv, name="issue-traces-csv"),
    path("issues/<uuid:issue>/<slug:act>/", issues.issue_act, name="issue-act"),
    path("solved/", solved.solved, name="solved"),
    path("solved.csv", solved.solved_csv, name="solved-csv"),
    path("runs/<int:number>/examples/<uuid:example>/", solved.example_case, name="example-case"),
    path("agents/trends/", trends.agent_trends, name="agent-trends"),
    path("agents/trends.csv", downloads.agent_trends_csv, name="agent-trends-csv"),
    path("experiments/<slug:experiment>/trends/", trends.trends, name="trends"),
    path("experiments/<slug:experiment>/trends.csv", downloads.trends_csv, name="trends-csv"),
]

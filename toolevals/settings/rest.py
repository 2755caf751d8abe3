"""Sets the REST interface and its description."""

from __future__ import annotations

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["toolevals.workspace.api.request_checks.AccessAuthentication"],
    # Who may ask is decided before the view, by each app's access.py.
    "DEFAULT_PERMISSION_CLASSES": ["toolevals.workspace.api.request_checks.KnownNamesOnly"],
    "DEFAULT_PARSER_CLASSES": [
        "toolevals.workspace.api.parsers.StrictJsonParser",
        "rest_framework.parsers.FormParser",
        "rest_framework.parsers.MultiPartParser",
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PAGINATION_CLASS": "toolevals.workspace.api.base.NewestFirst",
    "PAGE_SIZE": 100,
    "EXCEPTION_HANDLER": "toolevals.workspace.api.problems.problem_response",
    "DEFAULT_SCHEMA_CLASS": "toolevals.workspace.api.schema.Described",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "toolevals",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    # Fields of one name with different values: each set has a name of its own in the document.
    "ENUM_NAME_OVERRIDES": {
        "LabelAnswer": "labeling.models.LabelAnswer",
        "SecondLookAnswer": "labeling.models.LookAnswer",
        "WithoutGold": "labeling.adjudicate.api.WITHOUT_GOLD",
        "GoldSource": "labeling.models.GoldSource",
        "ImportSource": "labeling.imports.api.SOURCE_NAMES",
        "ExportFormat": "labeling.exports.api.FORMAT_NAMES",
        "FailureLayer": "toolevals.grading.failures.LAYERS",
        "IssueState": "reports.issues.table.STATES",
        "InvitationState": "toolevals.workspace.models.InvitationState",
        "JudgeMeasure": "toolevals.runs.models.Measure",
        "JobState": "toolevals.workspace.models.JobState",
        "PromotionState": "toolevals.traces.models.PromotionState",
        "PromotionStrata": "toolevals.traces.promotion.api.STRATA_NAMES",
        "RemarkKind": "reports.cases.api.REMARK_KINDS",
        "SimulatorKind": "toolevals.runs.models.SimulatorKind",
        "AgentConnector": "toolevals.runs.runs.models.Connector",
        "ToolChangeMeasure": "toolevals.traces.production.tool_changes.MEASURES",
        "SourceKind": "toolevals.registry.sources.models.SourceKind",
        "SourceSchedule": "toolevals.registry.sources.models.SourceSchedule",
        "SourceChangeKind": "reports.tool_drift.table.KINDS",
        "ToolFormat": "toolevals.registry.api.FORMAT_NAMES",
        "DeliveryState": "toolevals.workspace.models.DeliveryState",
        "WebhookForm": "toolevals.workspace.models.WebhookForm",
        "VerdictStatus": "toolevals.traces.judges.models.VerdictStatus",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "toolevals.workspace.api.schema.describe_problems",
        "toolevals.workspace.api.schema.describe_files",
        "toolevals.workspace.api.schema.describe_nulls",
        "toolevals.workspace.api.schema.describe_server",
    ],
}

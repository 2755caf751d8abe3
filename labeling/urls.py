"""List the pages of `labeling`."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from labeling.adjudicate import views as adjudicate
from labeling.agreement import views as agreement
from labeling.batches import views as batches
from labeling.calibration_rounds import views as calibration_rounds
from labeling.coverage import views as coverage
from labeling.datasets import views as datasets
from labeling.datasheet import views as datasheet
from labeling.examples import act_views as example_acts
from labeling.examples import views as examples
from labeling.exports import views as exports
from labeling.feedback import views as feedback
from labeling.guidelines import views as guidelines
from labeling.imports import views as imports
from labeling.label import keys, my_labels
from labeling.label import views as label
from labeling.lint import views as lint
from labeling.proposals import views as proposals
from labeling.questions import views as questions
from labeling.saved_views import views as saved_views
from labeling.second_looks import views as second_looks
from labeling.versions import views as versions

app_name = "labeling"
urlpatterns: list[URLPattern | URLResolver] = [
    path("datasets/", datasets.datasets, name="datasets"),
    path("datasets.csv", datasets.datasets_csv, name="datasets-csv"),
    path("datasets/<slug:dataset>/", datasets.dataset, name="dataset"),
    path("datasets/<slug:dataset>/examples/csv/", datasets.dataset_csv, name="dataset-csv"),
    path("datasets/<slug:dataset>/settings/", datasets.settings, name="dataset-settings"),
    path("datasets/<slug:dataset>/guideline/", guidelines.guideline, name="guideline"),
    path("datasets/<slug:dataset>/import/", imports.import_examples, name="import"),
    path("datasets/<slug:dataset>/import/<uuid:upload>/", imports.import_options, name="import-options"),
    path("datasets/<slug:dataset>/import/<uuid:job>/lines/", imports.import_lines, name="import-lines"),
    path("datasets/<slug:dataset>/export/", exports.export, name="export"),
    path("datasets/<slug:dataset>/exports/", exports.exports, name="exports"),
    path("datasets/<slug:dataset>/exports/<uuid:export>/file/", exports.export_file, name="export-file"),
    path("datasets/<slug:dataset>/versions.csv", versions.versions_csv, name="versions-csv"),
    path("datasets/<slug:dataset>/versions/", versions.versions, name="versions"),
    path(
        "datasets/<slug:dataset>/versions/<str:version>/examples/",
        versions.version_examples,
        name="version-examples",
    ),
    path(
        "datasets/<slug:dataset>/versions/<str:version>/examples/csv/",
        versions.version_examples_csv,
        name="version-examples-csv",
    ),
    path(
        "datasets/<slug:dataset>/versions/<str:version>/describe/", versions.version_describe, name="version-describe"
    ),
    path("datasets/<slug:dataset>/versions/<str:version>/changes/", versions.version_changes, name="version-changes"),
    path(
        "datasets/<slug:dataset>/versions/<str:version>/changes/csv/",
        versions.version_changes_csv,
        name="version-changes-csv",
    ),
    path("datasets/<slug:dataset>/versions/<str:version>/export/", exports.version_export, name="version-export"),
    path("datasets/<slug:dataset>/versions/<str:version>/datasheet/", datasheet.datasheet, name="datasheet"),
    path(
        "datasets/<slug:dataset>/versions/<str:version>/datasheet/markdown/",
        datasheet.datasheet_markdown,
        name="datasheet-markdown",
    ),
    path(
        "datasets/<slug:dataset>/versions/<str:version>/datasheet/json/",
        datasheet.datasheet_json,
        name="datasheet-json",
    ),
    path("datasets/<slug:dataset>/examples/act/", example_acts.examples_act, name="examples-act"),
    path("datasets/<slug:dataset>/examples/undo/<uuid:act>/", example_acts.examples_undo, name="examples-undo"),
    path("datasets/<slug:dataset>/views/", saved_views.saved_views, name="saved-views"),
    path("datasets/<slug:dataset>/views/<uuid:view>/delete/", saved_views.saved_view_delete, name="saved-view-delete"),
    path("datasets/<slug:dataset>/examples/<uuid:example>/", examples.example, name="example"),
    path("datasets/<slug:dataset>/examples/<uuid:example>/dispute/", examples.dispute, name="dispute"),
    path(
        "datasets/<slug:dataset>/examples/<uuid:example>/disputes/<uuid:dispute>/assign/",
        examples.dispute_assign,
        name="dispute-assign",
    ),
    path("datasets/<slug:dataset>/examples/<uuid:example>/decided-by/", examples.decided_by, name="decided-by"),
    path("datasets/<slug:dataset>/examples/<uuid:example>/reopen/", examples.reopen, name="reopen"),
    path(
        "datasets/<slug:dataset>/examples/<uuid:example>/golds/<uuid:gold>/restore/",
        examples.gold_restore,
        name="gold-restore",
    ),
    path("feedback/", feedback.feedback, name="feedback"),
    path("feedback/seen/", feedback.feedback_seen, name="feedback-seen"),
    path("datasets/<slug:dataset>/coverage/", coverage.coverage, name="coverage"),
    path("datasets/<slug:dataset>/coverage/csv/", coverage.coverage_csv, name="coverage-csv"),
    path("datasets/<slug:dataset>/settings/strata/", datasets.shown_strata, name="shown-strata"),
    path("datasets/<slug:dataset>/coverage/quotas/", coverage.quotas, name="quotas"),
    path("datasets/<slug:dataset>/proposals/", proposals.proposals, name="proposals"),
    path("datasets/<slug:dataset>/proposals/make/", proposals.proposals_make, name="proposals-make"),
    path("datasets/<slug:dataset>/proposals/decide/", proposals.proposals_decide, name="proposals-decide"),
    path("datasets/<slug:dataset>/agreement/", agreement.agreement, name="agreement"),
    path("datasets/<slug:dataset>/agreement/csv/", agreement.agreement_csv, name="agreement-csv"),
    path("datasets/<slug:dataset>/agreement/cases/", agreement.agreement_cases, name="agreement-cases"),
    path("datasets/<slug:dataset>/agreement/cases/csv/", agreement.agreement_cases_csv, name="agreement-cases-csv"),
    path("datasets/<slug:dataset>/lint/", lint.lint, name="lint"),
    path("datasets/<slug:dataset>/lint/csv/", lint.lint_csv, name="lint-csv"),
    path("datasets/<slug:dataset>/lint/ignore/", lint.lint_ignore, name="lint-ignore"),
    path("calibration/", calibration_rounds.calibration_waiting, name="calibration-waiting"),
    path("datasets/<slug:dataset>/calibration/", calibration_rounds.calibrations, name="calibrations"),
    path("datasets/<slug:dataset>/calibration/<uuid:calibration>/", calibration_rounds.calibration, name="calibration"),
    path(
        "datasets/<slug:dataset>/calibration/<uuid:calibration>/close/",
        calibration_rounds.calibration_close,
        name="calibration-close",
    ),
    path(
        "datasets/<slug:dataset>/calibration/<uuid:calibration>/csv/",
        calibration_rounds.calibration_csv,
        name="calibration-csv",
    ),
    path(
        "datasets/<slug:dataset>/calibration/<uuid:calibration>/items/<uuid:item>/",
        calibration_rounds.calibration_item,
        name="calibration-item",
    ),
    path(
        "datasets/<slug:dataset>/calibration/<uuid:calibration>/label/",
        calibration_rounds.calibrate_next,
        name="calibrate",
    ),
    path(
        "datasets/<slug:dataset>/calibration/<uuid:calibration>/label/<uuid:item>/",
        calibration_rounds.calibrate_item,
        name="calibrate-item",
    ),
    path(
        "datasets/<slug:dataset>/calibration/<uuid:calibration>/label/<uuid:item>/panel/",
        calibration_rounds.calibrate_panel,
        name="calibrate-panel",
    ),
    path(
        "datasets/<slug:dataset>/calibration/<uuid:calibration>/label/<uuid:item>/draft/",
        calibration_rounds.calibrate_draft,
        name="calibrate-draft",
    ),
    path(
        "datasets/<slug:dataset>/calibration/<uuid:calibration>/label/<uuid:item>/submit/",
        calibration_rounds.calibrate_submit,
        name="calibrate-submit",
    ),
    path("datasets/<slug:dataset>/queue/", batches.queue, name="queue"),
    path("datasets/<slug:dataset>/queue/order/", batches.queue_order, name="queue-order"),
    path("datasets/<slug:dataset>/queue/<uuid:batch>/", batches.batch, name="batch"),
    path("datasets/<slug:dataset>/queue/<uuid:batch>/close/", batches.batch_close, name="batch-close"),
    path("datasets/<slug:dataset>/queue/<uuid:batch>/assign/", batches.batch_assign, name="batch-assign"),
    path("settings/labelling/", batches.labelling_settings, name="labelling-settings"),
    path("label/", label.label_next, name="label"),
    path("label/<uuid:slot>/", label.label_slot, name="label-slot"),
    path("label/<uuid:slot>/panel/", label.label_panel, name="label-panel"),
    path("label/<uuid:slot>/draft/", label.label_draft, name="label-draft"),
    path("label/<uuid:slot>/submit/", label.label_submit, name="label-submit"),
    path("label/<uuid:slot>/skip/", label.label_skip, name="label-skip"),
    path("label/<uuid:slot>/ahead/", label.label_ahead, name="label-ahead"),
    path("label/<uuid:slot>/release/", label.label_release, name="label-release"),
    path("label/<uuid:slot>/renew/", label.label_renew, name="label-renew"),
    path("label/<uuid:slot>/leave/", label.label_leave, name="label-leave"),
    path("label/keys/", keys.keys, name="keys"),
    path("label/mine/", my_labels.my_labels, name="my-labels"),
    path("label/guide/<uuid:revision>/", guidelines.guide, name="guide"),
    path("second-looks/", second_looks.second_looks, name="second-looks"),
    path("second-looks/<uuid:look>/", second_looks.second_look, name="second-look"),
    path("second-looks/<uuid:look>/answer/", second_looks.second_look_answer, name="second-look-answer"),
    path("questions/", questions.questions, name="questions"),
    path("questions/<uuid:revision>/", questions.thread, name="thread"),
    path("questions/<uuid:revision>/add/", questions.comment_add, name="comment-add"),
    path("label/undo/<uuid:label>/", label.label_undo, name="label-undo"),
    path("label/undo-skip/<uuid:skip>/", label.skip_undo, name="skip-undo"),
    path("adjudicate/", adjudicate.adjudicate, name="adjudicate"),
    path("adjudicate/<uuid:revision>/", adjudicate.adjudicate_revision, name="adjudicate-revision"),
    path("adjudicate/<uuid:revision>/outcome/", adjudicate.adjudicate_outcome, name="adjudicate-outcome"),
    path("adjudicate/<uuid:revision>/panel/", adjudicate.adjudicate_panel, name="adjudicate-panel"),
    path("adjudicate/<uuid:revision>/draft/", adjudicate.adjudicate_draft, name="adjudicate-draft"),
    path("adjudicate/<uuid:revision>/decide/", adjudicate.adjudicate_decide, name="adjudicate-decide"),
    path("adjudicate/undo/<uuid:adjudication>/", adjudicate.adjudicate_undo, name="adjudicate-undo"),
    path("adjudicate/<uuid:revision>/keep/", adjudicate.adjudicate_keep, name="adjudicate-keep"),
]

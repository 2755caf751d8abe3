"""List the addresses of `labeling` in the REST interface."""

from django.urls import path

from labeling.adjudicate import api as adjudicate
from labeling.agreement import api as agreement
from labeling.batches import api as batches
from labeling.calibration_rounds import api as calibration_rounds
from labeling.coverage import api as coverage
from labeling.datasets import api as datasets
from labeling.datasheet import api as datasheet
from labeling.examples import api as examples
from labeling.exports import api as exports
from labeling.imports import api as imports
from labeling.label import api as label
from labeling.lint import api as lint
from labeling.proposals import api as proposals
from labeling.second_looks import api as second_looks
from labeling.versions import api as versions

app_name = "labeling-api"
urlpatterns = [
    path("datasets/", datasets.Datasets.as_view(), name="datasets"),
    path("datasets/<slug:dataset>/", datasets.DatasetDetail.as_view(), name="dataset"),
    path("datasets/<slug:dataset>/examples/", examples.Examples.as_view(), name="examples"),
    path("datasets/<slug:dataset>/suggestions/", label.Suggestions.as_view(), name="suggestions"),
    path("datasets/<slug:dataset>/imports/", imports.Imports.as_view(), name="imports"),
    path("imports/<uuid:job>/lines/", imports.ImportLines.as_view(), name="import-lines"),
    path("datasets/<slug:dataset>/export/", exports.Export.as_view(), name="export"),
    path("datasets/<slug:dataset>/exports/", exports.Exports.as_view(), name="exports"),
    path("exports/<uuid:export>/file/", exports.ExportFile.as_view(), name="export-file"),
    path("datasets/<slug:dataset>/coverage/", coverage.Coverage.as_view(), name="coverage"),
    path("datasets/<slug:dataset>/agreement/", agreement.Agreement.as_view(), name="agreement"),
    path("datasets/<slug:dataset>/agreement/cases/", agreement.AgreementCases.as_view(), name="agreement-cases"),
    path("datasets/<slug:dataset>/shown-strata/", datasets.ShownStrata.as_view(), name="shown-strata"),
    path("datasets/<slug:dataset>/quotas/", coverage.Quotas.as_view(), name="quotas"),
    path("datasets/<slug:dataset>/lint/", lint.Lint.as_view(), name="lint"),
    path("datasets/<slug:dataset>/lint/findings/<slug:finding>/", lint.LintFinding.as_view(), name="lint-finding"),
    path("datasets/<slug:dataset>/proposals/", proposals.Proposals.as_view(), name="proposals"),
    path("proposals/<uuid:proposal>/accept/", proposals.ProposalAccept.as_view(), name="proposal-accept"),
    path("proposals/<uuid:proposal>/drop/", proposals.ProposalDrop.as_view(), name="proposal-drop"),
    path("datasets/<slug:dataset>/calibrations/", calibration_rounds.Calibrations.as_view(), name="calibrations"),
    path("calibrations/<uuid:calibration>/", calibration_rounds.CalibrationDetail.as_view(), name="calibration"),
    path(
        "calibrations/<uuid:calibration>/close/",
        calibration_rounds.CalibrationClose.as_view(),
        name="calibration-close",
    ),
    path(
        "calibrations/<uuid:calibration>/items/",
        calibration_rounds.CalibrationItems.as_view(),
        name="calibration-items",
    ),
    path(
        "calibrations/<uuid:calibration>/results/",
        calibration_rounds.CalibrationResults.as_view(),
        name="calibration-results",
    ),
    path(
        "calibration-items/<uuid:item>/answer/",
        calibration_rounds.CalibrationAnswers.as_view(),
        name="calibration-answer",
    ),
    path("datasets/<slug:dataset>/versions/", versions.Versions.as_view(), name="versions"),
    path("datasets/<slug:dataset>/versions/<str:version>/", versions.VersionDetail.as_view(), name="version"),
    path(
        "datasets/<slug:dataset>/versions/<str:version>/changes/",
        versions.VersionChanges.as_view(),
        name="version-changes",
    ),
    path(
        "datasets/<slug:dataset>/versions/<str:version>/export/",
        exports.VersionExport.as_view(),
        name="version-export",
    ),
    path(
        "datasets/<slug:dataset>/versions/<str:version>/datasheet/",
        datasheet.DatasheetDetail.as_view(),
        name="datasheet",
    ),
    path("examples/<uuid:example>/", examples.ExampleDetail.as_view(), name="example"),
    path("adjudications/<uuid:revision>/set-aside/", adjudicate.SetAside.as_view(), name="set-aside"),
    path("examples/<uuid:example>/reopen/", adjudicate.Reopen.as_view(), name="reopen"),
    path("golds/<uuid:gold>/restore/", adjudicate.GoldRestore.as_view(), name="gold-restore"),
    path("feedback/", adjudicate.FeedbackList.as_view(), name="feedback"),
    path("examples/<uuid:example>/golds/", examples.Golds.as_view(), name="golds"),
    path("examples/<uuid:example>/disputes/", adjudicate.Disputes.as_view(), name="disputes"),
    path("disputes/<uuid:dispute>/settle/", adjudicate.DisputeSettle.as_view(), name="dispute-settle"),
    path("disputes/<uuid:dispute>/assignment/", adjudicate.DisputeAssignment.as_view(), name="dispute-assignment"),
    path("labelling/", batches.Labelling.as_view(), name="labelling"),
    path("datasets/<slug:dataset>/queue/", batches.Queue.as_view(), name="queue"),
    path("datasets/<slug:dataset>/batches/", batches.Batches.as_view(), name="batches"),
    path("datasets/<slug:dataset>/batches/<uuid:batch>/", batches.Batch.as_view(), name="batch"),
    path("datasets/<slug:dataset>/assignments/", batches.Assignments.as_view(), name="assignments"),
    path("claims/", label.Claims.as_view(), name="claims"),
    path("claims/<uuid:slot>/", label.Claim.as_view(), name="claim"),
    path("claims/<uuid:slot>/draft/", label.ClaimDraft.as_view(), name="claim-draft"),
    path("claims/<uuid:slot>/label/", label.ClaimLabel.as_view(), name="claim-label"),
    path("claims/<uuid:slot>/skip/", label.ClaimSkip.as_view(), name="claim-skip"),
    path("skips/<uuid:skip>/", label.SkipDetail.as_view(), name="skip"),
    path("second-looks/", second_looks.SecondLooks.as_view(), name="second-looks"),
    path("second-looks/<uuid:look>/", second_looks.SecondLookDetail.as_view(), name="second-look"),
    path("second-looks/<uuid:look>/answer/", second_looks.SecondLookAnswer.as_view(), name="second-look-answer"),
    path("labels/", label.Labels.as_view(), name="labels"),
    path("spare-labels/", label.SpareLabels.as_view(), name="spare-labels"),
    path("labels/<uuid:label>/", label.LabelDetail.as_view(), name="label"),
    path("adjudications/", adjudicate.Adjudications.as_view(), name="adjudications"),
    path("adjudications/<uuid:revision>/", adjudicate.AdjudicationDetail.as_view(), name="adjudication"),
]

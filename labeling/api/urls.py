"""Addresses of `labeling` in the REST interface."""

from django.urls import path

from labeling.api.views import adjudication, datasets, examples, labels, queue, suggestions, transfer, versions

app_name = "labeling-api"
urlpatterns = [
    path("datasets/", datasets.Datasets.as_view(), name="datasets"),
    path("datasets/<slug:dataset>/", datasets.DatasetDetail.as_view(), name="dataset"),
    path("datasets/<slug:dataset>/examples/", examples.Examples.as_view(), name="examples"),
    path("datasets/<slug:dataset>/suggestions/", suggestions.Suggestions.as_view(), name="suggestions"),
    path("datasets/<slug:dataset>/imports/", transfer.Imports.as_view(), name="imports"),
    path("datasets/<slug:dataset>/export/", transfer.Export.as_view(), name="export"),
    path("datasets/<slug:dataset>/exports/", transfer.Exports.as_view(), name="exports"),
    path("exports/<uuid:export>/file/", transfer.ExportFile.as_view(), name="export-file"),
    path("datasets/<slug:dataset>/versions/", versions.Versions.as_view(), name="versions"),
    path("datasets/<slug:dataset>/versions/<int:number>/", versions.VersionDetail.as_view(), name="version"),
    path(
        "datasets/<slug:dataset>/versions/<int:number>/export/",
        transfer.VersionExport.as_view(),
        name="version-export",
    ),
    path("examples/<uuid:example>/", examples.ExampleDetail.as_view(), name="example"),
    path("adjudications/<uuid:revision>/set-aside/", adjudication.SetAside.as_view(), name="set-aside"),
    path("examples/<uuid:example>/reopen/", adjudication.Reopen.as_view(), name="reopen"),
    path("golds/<uuid:gold>/restore/", adjudication.GoldRestore.as_view(), name="gold-restore"),
    path("feedback/", adjudication.FeedbackList.as_view(), name="feedback"),
    path("examples/<uuid:example>/golds/", examples.Golds.as_view(), name="golds"),
    path("examples/<uuid:example>/disputes/", adjudication.Disputes.as_view(), name="disputes"),
    path("disputes/<uuid:dispute>/settle/", adjudication.DisputeSettle.as_view(), name="dispute-settle"),
    path("labelling/", queue.Labelling.as_view(), name="labelling"),
    path("datasets/<slug:dataset>/queue/", queue.Queue.as_view(), name="queue"),
    path("datasets/<slug:dataset>/batches/", queue.Batches.as_view(), name="batches"),
    path("datasets/<slug:dataset>/batches/<uuid:batch>/", queue.Batch.as_view(), name="batch"),
    path("datasets/<slug:dataset>/assignments/", queue.Assignments.as_view(), name="assignments"),
    path("claims/", labels.Claims.as_view(), name="claims"),
    path("claims/<uuid:slot>/", labels.Claim.as_view(), name="claim"),
    path("claims/<uuid:slot>/draft/", labels.ClaimDraft.as_view(), name="claim-draft"),
    path("claims/<uuid:slot>/label/", labels.ClaimLabel.as_view(), name="claim-label"),
    path("claims/<uuid:slot>/skip/", labels.ClaimSkip.as_view(), name="claim-skip"),
    path("skips/<uuid:skip>/", labels.SkipDetail.as_view(), name="skip"),
    path("labels/", labels.Labels.as_view(), name="labels"),
    path("labels/<uuid:label>/", labels.LabelDetail.as_view(), name="label"),
    path("adjudications/", adjudication.Adjudications.as_view(), name="adjudications"),
    path("adjudications/<uuid:revision>/", adjudication.AdjudicationDetail.as_view(), name="adjudication"),
]

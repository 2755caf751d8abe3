"""Pages of `labeling`."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from labeling.views import adjudicate, datasets, examples, feedback, guidelines, keys, label, talk, versions

app_name = "labeling"
urlpatterns: list[URLPattern | URLResolver] = [
    path("datasets/", datasets.datasets, name="datasets"),
    path("datasets/<slug:dataset>/", datasets.dataset, name="dataset"),
    path("datasets/<slug:dataset>/settings/", datasets.settings, name="dataset-settings"),
    path("datasets/<slug:dataset>/guideline/", guidelines.guideline, name="guideline"),
    path("datasets/<slug:dataset>/import/", datasets.import_examples, name="import"),
    path("datasets/<slug:dataset>/export/", datasets.export, name="export"),
    path("datasets/<slug:dataset>/versions/", versions.versions, name="versions"),
    path("datasets/<slug:dataset>/versions/<int:number>/export/", versions.version_export, name="version-export"),
    path("datasets/<slug:dataset>/examples/<uuid:example>/", examples.example, name="example"),
    path("datasets/<slug:dataset>/examples/<uuid:example>/dispute/", examples.dispute, name="dispute"),
    path("datasets/<slug:dataset>/examples/<uuid:example>/reopen/", examples.reopen, name="reopen"),
    path(
        "datasets/<slug:dataset>/examples/<uuid:example>/golds/<uuid:gold>/restore/",
        examples.gold_restore,
        name="gold-restore",
    ),
    path("feedback/", feedback.feedback, name="feedback"),
    path("feedback/seen/", feedback.feedback_seen, name="feedback-seen"),
    path("label/", label.label_next, name="label"),
    path("label/<uuid:slot>/", label.label_slot, name="label-slot"),
    path("label/<uuid:slot>/panel/", label.label_panel, name="label-panel"),
    path("label/<uuid:slot>/draft/", label.label_draft, name="label-draft"),
    path("label/<uuid:slot>/submit/", label.label_submit, name="label-submit"),
    path("label/<uuid:slot>/skip/", label.label_skip, name="label-skip"),
    path("label/<uuid:slot>/release/", label.label_release, name="label-release"),
    path("label/<uuid:slot>/renew/", label.label_renew, name="label-renew"),
    path("label/<uuid:slot>/leave/", label.label_leave, name="label-leave"),
    path("label/keys/", keys.keys, name="keys"),
    path("label/guide/<uuid:revision>/", guidelines.guide, name="guide"),
    path("questions/", talk.questions, name="questions"),
    path("questions/<uuid:revision>/", talk.thread, name="thread"),
    path("questions/<uuid:revision>/add/", talk.comment_add, name="comment-add"),
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

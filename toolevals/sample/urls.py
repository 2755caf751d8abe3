"""Lists the addresses of `toolevals.sample`."""

from __future__ import annotations

from django.urls import path

from toolevals.sample import views

app_name = "sample"
urlpatterns = [
    path("sample/<slug:part>/", views.add, name="add"),
]

"""List the addresses of badges, outside the projects: they name nothing but a secret key."""

from django.urls import path

from reports.gates import views as gates

app_name = "badges"
urlpatterns = [path("<str:key>.svg", gates.badge, name="badge")]

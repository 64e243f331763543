from django.urls import include, path, re_path

from . import views

urlpatterns = [
    path("lockers/<int:pk>/", views.locker),
    re_path(r"^cells/$", views.Cells.as_view()),
    path("more/", include("more.urls")),
]

"""Django REST framework with the login of its browsable API."""

import harness
from django_site import DjangoApplication, run_site


class DjangoRESTFramework(DjangoApplication):
    title = "Django REST framework"
    preset = "django-rest-framework"
    package = "djangorestframework"
    login_path = "api-auth/login/"
    private_path = "groups/"
    marker = '"groups of ada"'
    refusal = "Please enter a correct username and password"
    cannot = {"code": "Django has none of its own"}

    def reference_write(self, session, value):
        session.post(
            self.url("groups/"), json={"name": value},
            headers={"X-CSRFToken": session.cookies["csrftoken"], "Referer": self.url("groups/")}).raise_for_status()

    def reference_logout(self, session):
        session.post(self.url("api-auth/logout/"), {"csrfmiddlewaretoken": session.cookies["csrftoken"]})

    def written(self, value):
        return value in self.reference().get(self.url("groups/")).text

    def write_words(self, value):
        return ["--json", f'{{"name": "{value}"}}', self.url("groups/")]


def urls():
    from django.contrib.auth.models import Group
    from django.urls import include, path
    from rest_framework import permissions, serializers, viewsets
    from rest_framework.response import Response
    from rest_framework.routers import SimpleRouter

    class GroupSerializer(serializers.ModelSerializer):
        class Meta:
            model = Group
            fields = ["name"]

    class GroupViewSet(viewsets.ModelViewSet):
        queryset = Group.objects.order_by("name")
        serializer_class = GroupSerializer
        permission_classes = [permissions.IsAuthenticated]

        def list(self, request):
            return Response({"title": f"groups of {request.user}", "names": [group.name for group in self.get_queryset()]})

    router = SimpleRouter()
    router.register("groups", GroupViewSet)
    return [path("", include(router.urls)), path("api-auth/", include("rest_framework.urls"))]


if __name__ == "__main__":
    run_site(urls, ["rest_framework"], LOGIN_REDIRECT_URL="/groups/", LOGOUT_REDIRECT_URL="/api-auth/login/")

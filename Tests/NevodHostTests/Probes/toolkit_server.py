"""A Django site with django-oauth-toolkit. It has a client whose name and secret have unusual characters, and the client's two
tokens.

The argument is a folder for the database.
"""
import datetime
import os
import sys

import common
import django
from django.conf import settings

settings.configure(
    SECRET_KEY="of this test", ROOT_URLCONF=__name__, ALLOWED_HOSTS=["127.0.0.1"], USE_TZ=True,
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "oauth2_provider"],
    DATABASES={"default": {
        "ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(sys.argv[1], "site.db"), "OPTIONS": {"timeout": 30}}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField", OAUTH2_PROVIDER={"SCOPES": {"orders:read": "read"}})
django.setup()

from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.urls import include, path
from oauth2_provider.models import AccessToken, Application, RefreshToken

urlpatterns = [path("o/", include("oauth2_provider.urls"))]
call_command("migrate", verbosity=0)
user = User.objects.create_user("ada", password="x")
client = Application.objects.create(
    client_id="shop: a & b", client_secret="s3cret+/=é%41", client_type="confidential", authorization_grant_type="password", user=user)
ends = datetime.datetime(2100, 1, 1, tzinfo=datetime.timezone.utc)
access = AccessToken.objects.create(user=user, token="access", application=client, expires=ends, scope="orders:read")
RefreshToken.objects.create(user=user, token="refresh", application=client, access_token=access)
common.serve_wsgi(lambda url: get_wsgi_application())

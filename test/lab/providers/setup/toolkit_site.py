"""django-oauth-toolkit with OpenID Connect, SQLite, a person, a public client and an API's client."""

import json
import os
import secrets
import sys
from types import ModuleType

from django.conf import settings

DJANGO = "django.contrib"
FORM = '<form method="post">{% csrf_token %}{{ form }}<button>Sign in</button></form>'
settings.configure(
    DEBUG=True,
    SECRET_KEY=secrets.token_hex(),
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF="urls",
    INSTALLED_APPS=[
        *(f"{DJANGO}.{name}" for name in ["auth", "contenttypes", "sessions", "messages"]),
        "oauth2_provider",
    ],
    MIDDLEWARE=[
        f"{DJANGO}.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        f"{DJANGO}.auth.middleware.AuthenticationMiddleware",
        f"{DJANGO}.messages.middleware.MessageMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "OPTIONS": {
                "loaders": [
                    ("django.template.loaders.locmem.Loader", {"login.html": FORM}),
                    "django.template.loaders.app_directories.Loader",
                ],
                "context_processors": ["django.template.context_processors.request"],
            },
        }
    ],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "db.sqlite3"}},
    USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    LOGIN_URL="/login/",
    OAUTH2_PROVIDER={
        "OIDC_ENABLED": True,
        "OIDC_RSA_PRIVATE_KEY": open(os.environ["KEY"]).read(),
        "SCOPES": {name: name for name in ["openid", "offline_access", "vault:read", "interns", "introspection"]},
    },
)

import django  # noqa: E402

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.contrib.auth.views import LoginView  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.http import JsonResponse  # noqa: E402
from django.urls import include, path  # noqa: E402
from oauth2_provider.models import get_access_token_model, get_application_model  # noqa: E402
from oauth2_provider.views import IntrospectTokenView  # noqa: E402


class WithSubject(IntrospectTokenView):
    @staticmethod
    def get_token_response(token_value=None):
        answer = json.loads(IntrospectTokenView.get_token_response(token_value).content)
        if answer.get("active"):
            token = get_access_token_model().objects.get(token=token_value)
            answer |= {"sub": str(token.user_id), "token_type": "Bearer"}
        return JsonResponse(answer)


sys.modules["urls"] = urls = ModuleType("urls")
urls.urlpatterns = [
    path("introspect/", WithSubject.as_view()),
    path("login/", LoginView.as_view(template_name="login.html")),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
]
call_command("migrate", verbosity=0)
ada = User.objects.create_user("ada", password="ada-Ada-123")
applications = get_application_model().objects
applications.create(
    client_id="ori-cli",
    name="ori",
    client_type="public",
    client_secret="",
    authorization_grant_type="authorization-code",
    redirect_uris="http://127.0.0.1/callback",
    algorithm="RS256",
)
applications.create(
    client_id="api",
    name="api",
    client_type="confidential",
    client_secret="secret",
    # Else each introspection computes PBKDF2, for about as long as a signer waits.
    hash_client_secret=False,
    authorization_grant_type="client-credentials",
    user=ada,
)
call_command("runserver", f"127.0.0.1:{os.environ['PORT']}", "--noreload")

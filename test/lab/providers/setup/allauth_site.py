"""django-allauth's OpenID provider, with SQLite, a person and a public client."""

import os
import secrets
import sys
from types import ModuleType

from django.conf import settings

DJANGO = "django.contrib"
settings.configure(
    DEBUG=True,
    SECRET_KEY=secrets.token_hex(),
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF="urls",
    SITE_ID=1,
    INSTALLED_APPS=[
        *(f"{DJANGO}.{name}" for name in ["auth", "contenttypes", "sessions", "messages", "sites"]),
        *["allauth", "allauth.account", "allauth.idp.oidc"],
    ],
    MIDDLEWARE=[
        f"{DJANGO}.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        f"{DJANGO}.auth.middleware.AuthenticationMiddleware",
        f"{DJANGO}.messages.middleware.MessageMiddleware",
        "allauth.account.middleware.AccountMiddleware",
    ],
    ACCOUNT_EMAIL_VERIFICATION="none",
    ACCOUNT_RATE_LIMITS=False,
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    f"{DJANGO}.auth.context_processors.auth",
                    f"{DJANGO}.messages.context_processors.messages",
                ]
            },
        }
    ],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "db.sqlite3"}},
    USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    EMAIL_BACKEND="django.core.mail.backends.dummy.EmailBackend",
    IDP_OIDC_PRIVATE_KEY=open(os.environ["KEY"]).read(),
    IDP_OIDC_ACCESS_TOKEN_FORMAT="jwt",
)

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402
from django.urls import include, path  # noqa: E402

sys.modules["urls"] = urls = ModuleType("urls")
urls.urlpatterns = [path("accounts/", include("allauth.urls")), path("", include("allauth.idp.urls"))]
call_command("migrate", verbosity=0)

from allauth.idp.oidc.models import Client  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402

User.objects.create_user("ada", email="ada@corp.test", password="ada-Ada-123")
client = Client(id="ori-cli", name="ori", type=Client.Type.PUBLIC)
client.set_scopes(["openid", "offline_access", "vault:read", "interns"])
client.set_redirect_uris(["http://127.0.0.1/callback"])
client.set_grant_types(["authorization_code", "refresh_token"])
client.set_response_types(["code"])
client.save()
call_command("runserver", f"127.0.0.1:{os.environ['PORT']}", "--noreload")

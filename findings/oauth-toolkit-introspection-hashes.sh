#!/bin/sh
# django-oauth-toolkit 3.4.1 on Django 5.2: a client that authenticates to the introspection endpoint has its secret checked by
# Django's password hasher, PBKDF2 of a million rounds, on every question: 240 ms of CPU and more for one token, against
# 2 ms where the application has hash_client_secret off. A wrong client id is refused within milliseconds.
# Met by: an API that introspects opaque tokens there: a few tokens a second fill a core, and time limits below a second end.
# Source: RFC 7662 over oauth2_provider's ClientProtectedResourceMixin; measured here as a ratio.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q django-oauth-toolkit==3.4.1 'django>=5.2,<5.3'
cat >ask.py <<'PY'
import base64, time, django
from django.conf import settings
apps = ["django.contrib.auth", "django.contrib.contenttypes", "oauth2_provider"]
settings.configure(
    INSTALLED_APPS=apps, SECRET_KEY="of-a-test", ROOT_URLCONF="oauth2_provider.urls", ALLOWED_HOSTS=["testserver"], USE_TZ=True,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()
from django.core.management import call_command
from django.test import Client
from oauth2_provider.models import get_application_model
call_command("migrate", verbosity=0)
def seconds(name, **options):
    get_application_model().objects.create(
        client_id=name, client_secret="secret", client_type="confidential", authorization_grant_type="client-credentials", name=name, **options
    )
    basic = "Basic " + base64.b64encode(f"{name}:secret".encode()).decode()
    began = time.process_time()
    for _ in range(4):
        answer = Client().post("/introspect/", {"token": "unknown"}, headers={"authorization": basic})
        assert answer.json() == {"active": False}, answer.content
    return (time.process_time() - began) / 4
plain = seconds("plain", hash_client_secret=False)
plain = min(plain, seconds("warm", hash_client_secret=False))
hashed = seconds("hashed")
print(f"a question: {hashed * 1000:.0f} ms of CPU, {plain * 1000:.0f} ms with hash_client_secret off")
raise SystemExit(0 if hashed > 10 * plain else 1)
PY
venv/bin/python ask.py

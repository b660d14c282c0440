#!/bin/sh
# django-allauth 65.22.1: installed with the extra for its OpenID provider, `django-allauth[idp-oidc]`, a site with the
# provider's URLs does not start: allauth.idp.oidc.internal.cimd imports requests, which only the extra for social accounts names.
# 65.21.1 has the same. With requests beside it, the site starts.
# Met by: whoever serves OpenID Connect with allauth and lets nobody sign in with social accounts.
# Source: Requires-Dist of the wheel; seen as ModuleNotFoundError.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >site_urls.py <<'PY'
import django
from django.conf import settings
apps = ["auth", "contenttypes", "sessions", "messages"]
installed = [f"django.contrib.{name}" for name in apps] + ["allauth", "allauth.account", "allauth.idp.oidc"]
middleware = ["allauth.account.middleware.AccountMiddleware"]
settings.configure(INSTALLED_APPS=installed, MIDDLEWARE=middleware, SECRET_KEY="of-a-test", ROOT_URLCONF="urls", DEFAULT_AUTO_FIELD="django.db.models.AutoField")
django.setup()
try:
    import allauth.idp.urls
    print("starts")
except ModuleNotFoundError as error:
    print("does not start:", error)
PY
python3 -m venv venv
seen=
for package in "django-allauth[idp-oidc]==65.22.1" requests==2.32.5; do
  venv/bin/pip install -q "$package"
  said=$(venv/bin/python site_urls.py)
  echo "with $package: $said"
  seen="$seen$said;"
done
[ "$seen" = "does not start: No module named 'requests';starts;" ]

"""Canaille with its memory backend, a person and a public client."""

import os
import secrets

from canaille import create_app
from canaille.app import models
from canaille.backends import Backend
from joserfc.jwk import RSAKey

port = int(os.environ["PORT"])
app = create_app(
    {
        "SECRET_KEY": secrets.token_hex(),
        "SERVER_NAME": f"127.0.0.1:{port}",
        "PREFERRED_URL_SCHEME": "http",
        "SESSION_COOKIE_SECURE": False,
        "CANAILLE": {
            "DATABASE": "memory",
            "JAVASCRIPT": False,
            "HTMX": False,
            "ENABLE_PASSWORD_COMPROMISSION_CHECK": False,
        },
        "CANAILLE_OIDC": {"ACTIVE_JWKS": [RSAKey.generate_key(2048, auto_kid=True).as_dict(private=True)]},
    }
)
with app.app_context():
    backend = Backend.instance
    names = {"user_name": "ada", "given_name": "Ada", "family_name": "L", "formatted_name": "Ada L"}
    ada = models.User(**names, emails=["ada@corp.test"])
    backend.save(ada)
    backend.set_user_password(ada, "ada-Ada-123")
    client = models.Client(
        client_id="ori-cli",
        client_name="ori",
        client_uri="http://127.0.0.1/",
        application_type="native",
        redirect_uris=["http://127.0.0.1/callback", f"http://127.0.0.1:{os.environ['REDIRECT']}/callback"],
        token_endpoint_auth_method="none",
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        scope=["openid", "offline_access", "vault:read", "interns"],
    )
    backend.save(client)
    client.audience = [client]
    backend.save(client)
app.run(host="127.0.0.1", port=port, threaded=False)

#!/bin/sh
# Authlib 1.9.10: the access tokens of JWTBearerTokenGenerator (RFC 9068) have no `kid`, although the key that signs them
# has one; and the token of a code lives 864,000 s while the one that a refresh gives for it lives 3,600 s.
# Met by: an API whose provider is built on Authlib. While the provider publishes two keys it must try each, or refuses
# every token; and a limit on lifetimes refuses the first token of a session, and takes all later ones.
# Source: RFC 7515, 4.1.4 and RFC 9068, 2.1; authlib/oauth2/rfc9068/token.py and rfc6750/token.py.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q authlib==1.9.10
cat >mint.py <<'PY'
import base64, json
from authlib.oauth2.rfc9068 import JWTBearerTokenGenerator
from joserfc.jwk import RSAKey
key = RSAKey.generate_key(2048, {"kid": "of-2026"})
class Generator(JWTBearerTokenGenerator):
    def get_jwks(self):
        return key
class Client:
    def get_client_id(self):
        return "desk"
    def get_allowed_scope(self, scope):
        return scope
class Person:
    def get_user_id(self):
        return "7"
def mint(grant):
    token = Generator("https://issuer.test").generate(grant, Client(), Person(), "read")
    part = token["access_token"].split(".")[0]
    return token["expires_in"], json.loads(base64.urlsafe_b64decode(part + "=="))
first, renewed = mint("authorization_code"), mint("refresh_token")
print("first:", first, "renewed:", renewed, "kid of the key:", key.kid)
raise SystemExit(0 if "kid" not in first[1] and first[0] == 864000 and renewed[0] == 3600 else 1)
PY
venv/bin/python mint.py

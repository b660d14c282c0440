"""A server of Authlib's parts as its documentation has them, in memory: one person, one public client."""

import os
import time

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import grants
from authlib.oauth2.rfc6749.models import AuthorizationCodeMixin, ClientMixin, TokenMixin
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc9068 import JWTBearerTokenGenerator
from authlib.oidc.core import OpenIDCode, UserInfo
from flask import Flask, jsonify, request
from joserfc.jwk import RSAKey

PORT = int(os.environ["PORT"])
ISSUER = f"http://127.0.0.1:{PORT}"
KEY = RSAKey.import_key(open(os.environ["KEY"]).read(), {"kid": "first", "use": "sig", "alg": "RS256"})
CODES, TOKENS = {}, []
# As where the person has a session: all of it began once.
SIGNED_IN_AT = int(time.time())


class Ada:
    def get_user_id(self):
        return "ada"


class Record(dict):
    __getattr__ = dict.get


class Client(ClientMixin):
    def get_client_id(self):
        return "ori-cli"

    def get_allowed_scope(self, scope):
        known = ["openid", "offline_access", "vault:read", "interns"]
        return " ".join(word for word in scope.split() if word in known)

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri.startswith("http://127.0.0.1:")

    def check_endpoint_auth_method(self, method, endpoint):
        return method == "none"

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type in ["authorization_code", "refresh_token"]


class Code(Record, AuthorizationCodeMixin):
    def get_redirect_uri(self):
        return self["redirect_uri"]

    def get_scope(self):
        return self["scope"]

    def get_nonce(self):
        return self["nonce"]

    def get_auth_time(self):
        return SIGNED_IN_AT

    def get_acr(self):
        return None

    def get_amr(self):
        return None


class Token(Record, TokenMixin):
    def check_client(self, client):
        return True

    def get_scope(self):
        return self["scope"]

    def get_expires_in(self):
        return self["expires_in"]

    def is_expired(self):
        return False

    def is_revoked(self):
        return bool(self.revoked)

    def get_user(self):
        return Ada()

    def get_client(self):
        return Client()


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none"]

    def save_authorization_code(self, code, asked):
        data = asked.payload.data
        CODES[code] = Code(
            redirect_uri=asked.payload.redirect_uri,
            scope=asked.scope,
            nonce=data.get("nonce"),
            code_challenge=data.get("code_challenge"),
            code_challenge_method=data.get("code_challenge_method"),
        )

    def query_authorization_code(self, code, client):
        return CODES.get(code)

    def delete_authorization_code(self, code):
        for name in [name for name, one in CODES.items() if one is code]:
            del CODES[name]

    def authenticate_user(self, code):
        return Ada()


class RefreshGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none"]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        return next((one for one in TOKENS if one.refresh_token == refresh_token and not one.revoked), None)

    def authenticate_user(self, credential):
        return Ada()

    def revoke_old_credential(self, credential):
        credential["revoked"] = True


class IdToken(OpenIDCode):
    def exists_nonce(self, nonce, asked):
        return any(one.nonce == nonce for one in CODES.values())

    def resolve_client_private_key(self, client):
        return KEY

    def get_client_claims(self, client):
        return {"iss": ISSUER}

    def generate_user_info(self, user, scope):
        return UserInfo(sub=user.get_user_id())


class AccessToken(JWTBearerTokenGenerator):
    def get_jwks(self):
        return KEY

    def get_audiences(self, client, user, scope):
        return os.environ["AUDIENCE"]

    def get_auth_time(self, user):
        return SIGNED_IN_AT


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = ["none"]

    def query_token(self, token_string, hint):
        return next((one for one in TOKENS if token_string in [one.access_token, one.refresh_token]), None)

    def revoke_token(self, token, asked):
        token["revoked"] = True


app = Flask(__name__)
server = AuthorizationServer(
    app,
    query_client=lambda client_id: Client() if client_id == "ori-cli" else None,
    save_token=lambda token, asked: TOKENS.append(Token(token)),
)
makes = {
    "refresh_token_generator": lambda *_, **__: os.urandom(24).hex(),
    # By default 10 days for a code, and an hour for a refresh.
    "expires_generator": lambda *_: 3600,
}
server.register_token_generator("default", AccessToken(ISSUER, **makes))
server.register_grant(CodeGrant, [CodeChallenge(required=True), IdToken(require_nonce=True)])
server.register_grant(RefreshGrant)
server.register_endpoint(Revocation)


@app.get("/.well-known/openid-configuration")
def discovery():
    ends = {f"{name}_endpoint": f"{ISSUER}/{name}" for name in ["authorization", "token", "revocation"]}
    return jsonify(issuer=ISSUER, jwks_uri=f"{ISSUER}/jwks", **ends)


@app.get("/jwks")
def jwks():
    return jsonify(keys=[KEY.as_dict(private=False)])


@app.route("/authorization", methods=["GET", "POST"])
def authorization():
    grant = server.get_consent_grant(end_user=Ada())
    if request.method == "GET":
        return '<form method="post"><button>Allow</button></form>'
    return server.create_authorization_response(grant_user=Ada(), grant=grant)


@app.post("/token")
def token():
    return server.create_token_response()


@app.post("/revocation")
def revocation():
    return server.create_endpoint_response(Revocation.ENDPOINT_NAME)


app.run(host="127.0.0.1", port=PORT)

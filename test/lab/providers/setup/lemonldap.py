"""A portal of Debian's LemonLDAP::NG, without a web server in front. Environment: PORT, AUDIENCE, KEY, REDIRECT, FOLDER."""

import json
import os
import subprocess
from pathlib import Path

SYSTEM = Path("/var/lib/lemonldap-ng")
folder, port, audience = Path(os.environ["FOLDER"]), os.environ["PORT"], os.environ["AUDIENCE"]
key = Path(os.environ["KEY"]).read_text()
public = subprocess.run(["openssl", "pkey", "-pubout"], input=key, capture_output=True, text=True, check=True).stdout


def storage(name: str) -> dict[str, str]:
    lock = folder / name / "lock"
    lock.mkdir(parents=True)
    return {"Directory": str(lock.parent), "LockDirectory": str(lock)}


for name in ("conf", "cache"):
    (folder / name).mkdir()
person = {
    "ClientID": "ori-cli",
    "Public": 1,
    "RequirePKCE": 1,
    "RedirectUris": f"http://127.0.0.1:{os.environ['REDIRECT']}/callback",
    "IDTokenSignAlg": "RS256",
    "RefreshToken": 1,
    "AccessTokenJWT": 1,
    "AdditionalAudiences": audience,
}
api = {"ClientID": "api", "ClientSecret": "secret", "RedirectUris": "http://127.0.0.1/none"}
settings = json.loads((SYSTEM / "conf/lmConf-1.json").read_text()) | {
    "cfgNum": 1,
    "portal": f"http://127.0.0.1:{port}/",
    "domain": "127.0.0.1",
    "securedCookie": 0,
    "requireToken": 0,
    "authentication": "Demo",
    "userDB": "Demo",
    "passwordDB": "Demo",
    "globalStorage": "Apache::Session::File",
    "globalStorageOptions": storage("sessions"),
    "persistentStorage": "Apache::Session::File",
    "persistentStorageOptions": storage("psessions"),
    "issuerDBOpenIDConnectActivation": 1,
    "oidcServiceAllowAuthorizationCodeFlow": 1,
    "oidcServicePrivateKeySig": key,
    "oidcServicePublicKeySig": public,
    "oidcServiceKeyIdSig": "k1",
    "oidcRPMetaDataOptions": {
        name: {f"oidcRPMetaDataOptions{option}": value for option, value in options.items()}
        for name, options in (("ori", person), ("api", api))
    },
    "oidcRPMetaDataExportedVars": {"ori": {"email": "mail"}},
}
(folder / "conf/lmConf-1.json").write_text(json.dumps(settings))
ini = Path("/etc/lemonldap-ng/lemonldap-ng.ini").read_text().replace(f"{SYSTEM}/", f"{folder}/")
(folder / "lemonldap-ng.ini").write_text(ini.replace("[portal]", "[portal]\nprotection = none"))
(folder / "portal.psgi").write_text("use Lemonldap::NG::Portal; Lemonldap::NG::Portal->run({})\n")
os.environ["LLNG_DEFAULTCONFFILE"] = str(folder / "lemonldap-ng.ini")
server = ["plackup", "-p", port, "-o", "127.0.0.1", "-s", "HTTP::Server::PSGI", str(folder / "portal.psgi")]
os.execvp("plackup", server)

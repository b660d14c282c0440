"""Lists and creates with the client that openapi-python-client generated: generated.py FOLDER BASE_URL API_KEY MANAGEMENT_KEY"""

import json
import sys
from datetime import datetime, timedelta, timezone

folder, base_url, api_key, management_key = sys.argv[1:]
sys.path.insert(0, folder)

from generated.api.api_keys import create_api_key, list_api_keys  # noqa: E402
from generated.api.interns import list_interns  # noqa: E402
from generated.client import AuthenticatedClient  # noqa: E402
from generated.models import ApiKeyCreate  # noqa: E402


def of(token: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=base_url, token=token, raise_on_unexpected_status=True)


end = datetime(2099, 1, 1, tzinfo=timezone(timedelta(hours=2)))
wanted = ApiKeyCreate(name="generated", expires_at=end)
made = create_api_key.sync(client=of(management_key), body=wanted)
interns = list_interns.sync(client=of(api_key))
keys = list_api_keys.sync(client=of(management_key))
told = {
    "interns": sorted(intern.name for intern in interns.data),
    "made": made.data.name,
    "ends": made.data.expires_at == end,
    "hasKey": made.key.startswith("sk-ori-v1-"),
    "isListed": made.data.hash_ in [key.hash_ for key in keys.data],
}
print(json.dumps(told))

import os

from ori_client.api.guardrails import create_guardrail
from ori_client.api.interns import list_interns
from ori_client.client import AuthenticatedClient
from ori_client.models import GuardrailCreate, GuardrailCreateResetIntervalType1 as Interval


def of(key: str) -> AuthenticatedClient:
    return AuthenticatedClient(os.environ["ORI_BASE_URL"], os.environ[key], raise_on_unexpected_status=True)


interns = list_interns.sync(client=of("ORI_API_KEY"))
print("lists", ",".join(intern.name for intern in interns.data))
wanted = GuardrailCreate(name="made", limit_usd=5, reset_interval=Interval.DAILY)
made = create_guardrail.sync(client=of("ORI_MANAGEMENT_KEY"), body=wanted).data
print("creates", made.name, made.reset_interval, made.description)

import os

import ori_client as ori


def of(key: str) -> ori.ApiClient:
    return ori.ApiClient(ori.Configuration(host=os.environ["ORI_BASE_URL"], access_token=os.environ[key]))


interns = ori.InternsApi(of("ORI_API_KEY")).list_interns()
print("lists", ",".join(intern.name for intern in interns.data))
wanted = ori.GuardrailCreate(name="made", limit_usd=5, reset_interval="daily")
made = ori.GuardrailsApi(of("ORI_MANAGEMENT_KEY")).create_guardrail(wanted).data
print("creates", made.name, made.reset_interval, made.description)

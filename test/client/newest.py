"""Calls every operation of management with the family's newest Python client. Prints a line for each: its name, and
"pass" or how the service refused it. Usage: newest.py BASE API_KEY MANAGEMENT_KEY USER_ID"""
import json
import sys
import time

from openrouter import OpenRouter

base, api_key, management_key, user_id = sys.argv[1:]
NEWER_RULES = [
    {"enforce_zdr_xai": True},
    {"allowed_data_regions": ["europe"]},
    {"allow_safety_retention_google": False},
    {"allow_safety_retention_other": False},
    {"enable_free_model_publication": False},
    {"enable_free_model_training": False},
    {"enable_paid_model_training": False},
]
failures = 0


def client(key):
    return OpenRouter(api_key=key, server_url=base, retry_config=None)


def refusal(error):
    """The sentence of an answer that the client understood as a refusal; None if it is none."""
    try:
        return json.loads(error.body)["error"]["message"]
    except Exception:
        return None


def call(name, make):
    global failures
    try:
        made = make()
        print(f"pass     {name}")
        return made
    except Exception as error:
        sentence = refusal(error)
        failures += sentence is None
        print(f"refused  {name}: {sentence}" if sentence else f"FAILS    {name}: {type(error).__name__}")
        return None


ours = client(management_key)
keys, byok, guardrails, workspaces = ours.api_keys, ours.byok, ours.guardrails, ours.workspaces
slug = f"newest-{time.time_ns()}"

workspace = call("workspaces.create", lambda: workspaces.create(name="Newest", slug=slug)).data.id
call("workspaces.create default_text_model", lambda: workspaces.create(name="x", slug=f"{slug}-x", default_text_model="a/b"))
call("workspaces.get", lambda: workspaces.get(id=workspace))
call("workspaces.update", lambda: workspaces.update(id=workspace, name="Renamed"))
call("workspaces.list", lambda: workspaces.list())
call("workspaces.bulk_add_members", lambda: workspaces.bulk_add_members(id=workspace, user_ids=[user_id]))
call("workspaces.list_members", lambda: workspaces.list_members(id=workspace))
call("organization.list_members", lambda: ours.organization.list_members())

made = call("api_keys.create", lambda: keys.create(name="ci", workspace_id=workspace))
hash = made.data.hash
call("api_keys.get_current_key_metadata", lambda: client(made.key).api_keys.get_current_key_metadata())
call("api_keys.get", lambda: keys.get(hash=hash))
call("api_keys.update", lambda: keys.update(hash=hash, name="cd"))
call("api_keys.list", lambda: keys.list(workspace_id=workspace))

provider_key = "sk-0123456789abcdefghijklmn"
credential = call("byok.create", lambda: byok.create(provider="openai", key=provider_key)).data.id
call("byok.create recursive", lambda: byok.create(provider="recursive", key=provider_key))
call("byok.list recursive", lambda: byok.list(provider="recursive"))
call("byok.get", lambda: byok.get(id=credential))
call("byok.update", lambda: byok.update(id=credential, name="x"))
call("byok.list", lambda: byok.list())
call("byok.delete", lambda: byok.delete(id=credential))

place = {"workspace_id": workspace}
policy = call("guardrails.create", lambda: guardrails.create(name="g", allowed_providers=["openai"], **place)).data.id
for rule in NEWER_RULES:
    call(f"guardrails.create {next(iter(rule))}", lambda: guardrails.create(name="z", **rule))
    call(f"guardrails.update {next(iter(rule))}", lambda: guardrails.update(id=policy, **rule))
secrets = [{"slug": "secrets", "action": "redact"}]
call("guardrails.create secrets", lambda: guardrails.create(name="z", content_filter_builtins=secrets))
call("guardrails.get", lambda: guardrails.get(id=policy))
call("guardrails.update", lambda: guardrails.update(id=policy, limit_usd=3))
call("guardrails.list", lambda: guardrails.list())
call("guardrails.bulk_assign_keys", lambda: guardrails.bulk_assign_keys(id=policy, key_hashes=[hash]))
call("guardrails.bulk_assign_members", lambda: guardrails.bulk_assign_members(id=policy, member_user_ids=[user_id]))
call("guardrails.list_guardrail_key_assignments", lambda: guardrails.list_guardrail_key_assignments(id=policy))
call("guardrails.list_guardrail_member_assignments", lambda: guardrails.list_guardrail_member_assignments(id=policy))
call("guardrails.list_key_assignments", lambda: guardrails.list_key_assignments())
call("guardrails.list_member_assignments", lambda: guardrails.list_member_assignments())
call("guardrails.bulk_unassign_keys", lambda: guardrails.bulk_unassign_keys(id=policy, key_hashes=[hash]))
call("guardrails.bulk_unassign_members", lambda: guardrails.bulk_unassign_members(id=policy, member_user_ids=[user_id]))
call("guardrails.delete", lambda: guardrails.delete(id=policy))
call("api_keys.delete", lambda: keys.delete(hash=hash))
call("workspaces.bulk_remove_members", lambda: workspaces.bulk_remove_members(id=workspace, user_ids=[user_id]))
call("workspaces.delete", lambda: workspaces.delete(id=workspace))
sys.exit(failures > 0)

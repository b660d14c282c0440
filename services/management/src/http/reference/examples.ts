import type { ByokUpdate } from '@ori/byok/credential';
import type { z } from 'zod';
import type {
  KeyAssignment,
  KeySelection,
  MemberAssignment,
  MemberSelection,
} from '../../assignments/shape.ts';
import type { ByokCredential } from '../../byok/shape.ts';
import type { Guardrail, GuardrailCreate, GuardrailUpdate } from '../../guardrails/shape.ts';
import type { Intern } from '../../interns/shape.ts';

interface Example {
  readonly request?: unknown;
  readonly response?: unknown;
}

const workspace_id = 'ws_9hK2';
const keyHash = '5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8';
const created_at = '2026-11-20T12:00:00.000Z';

const intern: Intern = {
  id: 'int_7Qm2',
  name: 'charles',
  description: 'Answers questions about the analytical engine.',
  hostname: 'charles.interns.example',
  model: 'anthropic/claude-sonnet-4.5',
  status: 'running',
  workspace_id,
  vault_id: 'vlt_3Fz1',
  attached_vault_id: null,
  instructions: null,
  icon_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  last_failure_message: null,
  progress: null,
  created_by_you: true,
  created_at,
  updated_at: created_at,
};

const credential: ByokCredential = {
  id: '8f6b0c52-3c1e-4a8f-9d57-2f1f6f6f0a11',
  workspace_id,
  provider: 'openai',
  name: 'Production',
  label: 'sk-...wxyz',
  disabled: false,
  is_fallback: false,
  is_required: false,
  is_byok_only: true,
  sort_order: 0,
  allowed_api_key_hashes: [keyHash],
  allowed_models: null,
  allowed_user_ids: null,
  declared_region: 'europe',
  declared_zdr: null,
  created_at,
};

const guardrail: Guardrail = {
  id: '2b0f7a0e-90a4-4c4e-8d3c-6a0c4f1c9e55',
  name: 'Support team',
  workspace_id,
  description: null,
  allowed_models: ['anthropic/claude-sonnet-4.5'],
  allowed_providers: null,
  ignored_models: null,
  ignored_providers: ['deepseek'],
  enforce_zdr: null,
  enforce_zdr_anthropic: true,
  enforce_zdr_google: true,
  enforce_zdr_openai: true,
  enforce_zdr_other: true,
  limit_usd: 50,
  reset_interval: 'monthly',
  include_byok_in_budgets: false,
  content_filter_builtins: [{ slug: 'email', action: 'redact', label: '[EMAIL]' }],
  content_filters: [{ pattern: 'PRJ-[0-9]{4}', action: 'block', label: 'Project number' }],
  created_at,
  updated_at: created_at,
};

const assignment = {
  id: '61c0a8a4-0f43-4f4c-9b7c-2c47f1ad8d0e',
  guardrail_id: guardrail.id,
  assigned_by: 'usr_ada',
  created_at,
};
const keyAssignment: KeyAssignment = {
  ...assignment,
  key_hash: keyHash,
  key_name: 'Support bot',
  key_label: 'sk-...2d8',
};
const memberAssignment: MemberAssignment = {
  ...assignment,
  user_id: 'usr_grace',
  organization_id: 'org_4Tn8',
};

const rotate: ByokUpdate = { key: 'sk-proj-…', name: 'Production, rotated', disabled: false };
const create: z.input<typeof GuardrailCreate> = {
  name: guardrail.name,
  allowed_models: guardrail.allowed_models,
  ignored_providers: guardrail.ignored_providers,
  enforce_zdr_anthropic: true,
  limit_usd: 50,
  reset_interval: 'monthly',
  content_filter_builtins: [{ slug: 'email', action: 'redact' }],
  content_filters: guardrail.content_filters,
};
const change: z.input<typeof GuardrailUpdate> = { limit_usd: null, content_filters: null };
const keys: z.input<typeof KeySelection> = { key_hashes: [keyHash] };
const members: z.input<typeof MemberSelection> = { member_user_ids: ['usr_grace'] };

const page = (record: unknown): Example => ({ response: { data: [record], total_count: 1 } });

/** What a request and its answer may look like, by operation. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  signDaemonRequest: {
    request: {
      bodySha256: '8a44725210b9dcd4fefd9f0eca07b70ae45e69274a3105fb25eb426a2cf8bbf4',
      route: { method: 'POST', path: '/api/invoke' },
    },
    response: {
      'x-ori-invoke-signature':
        'PrB6phrL9HxAHbXnGkePuzx0EeZwsIX6IfF1BesasFEm7W9JmHk/2aI0IFOkyHDIaCqMOjP34022pQkecmDrDA==',
      'x-ori-invoke-timestamp': '1789000000',
      'x-ori-invoke-user': 'user_2abc',
      'x-ori-invoke-signature-v2':
        'zMyIKlNJgAaBSg8nfMAE6m/6KpahQl/Vxr5un34nPzqZoo5O2fHUhGpO3tu+TVLk1hOThvkmbukkANvDcw8IBg==',
      'x-ori-invoke-nonce': 'AAECAwQFBgcICQoLDA0ODw',
    },
  },
  getDaemonKeys: {
    response: {
      keys: [
        {
          kty: 'OKP',
          crv: 'Ed25519',
          use: 'sig',
          kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
          x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
          nbf: 1_789_000_000,
        },
      ],
    },
  },
  listInterns: { response: { data: [intern], has_more: true, next_cursor: 'WyIyMDI2LTExLTIwVDEyOjAw' } },
  listByokCredentials: page(credential),
  updateByokCredential: { request: rotate, response: { data: { ...credential, name: rotate.name } } },
  listGuardrails: page(guardrail),
  createGuardrail: { request: create, response: { data: guardrail } },
  getGuardrail: { response: { data: guardrail } },
  updateGuardrail: {
    request: change,
    response: { data: { ...guardrail, limit_usd: null, content_filters: null } },
  },
  deleteGuardrail: { response: { deleted: true } },
  listGuardrailKeyAssignments: page(keyAssignment),
  listKeyAssignments: page(keyAssignment),
  bulkAssignKeys: { request: keys, response: { assigned_count: 1 } },
  bulkUnassignKeys: { request: keys, response: { unassigned_count: 1 } },
  listGuardrailMemberAssignments: page(memberAssignment),
  listMemberAssignments: page(memberAssignment),
  bulkAssignMembers: { request: members, response: { assigned_count: 1 } },
  bulkUnassignMembers: { request: members, response: { unassigned_count: 1 } },
};

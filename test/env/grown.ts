import pg from 'pg';

/** Other accounts, each with a workspace, an intern with icon and signing key, and a provider credential. */
export async function crowd(databaseUrl: string, accounts: number): Promise<void> {
  await unchecked(databaseUrl, async (client) => {
    for (const into of [
      `organizations (id, name) select 'org_other_' || n, 'other'`,
      `workspaces (id, organization_id, name, is_default) select 'ws_other_' || n, 'org_other_' || n, 'other', true`,
      `interns (id, organization_id, workspace_id, name, status)
         select 'int_other_' || n, 'org_other_' || n, 'ws_other_' || n, 'other', 'running'`,
      `intern_icons (intern_id, sha256, media_type, bytes)
         select 'int_other_' || n, repeat('0', 64), 'image/png', repeat('x', 100)::bytea`,
      `signing_keys (id, intern_id, kid, public_key, sealed_seed, kek, not_before, expires_at)
         select 'key_other_' || n, 'int_other_' || n, 'kid' || n, sha256(n::text::bytea), 'sealed', 'signer-0000000000000000', 0, 4000000000`,
      `idempotency_keys (organization_id, key_hash, sealed_answer) select 'org_other_' || n, repeat('0', 64), 'sealed'`,
      `byok_credentials (id, organization_id, workspace_id, provider, label, sealed_key)
         select md5('byok' || n)::uuid, 'org_other_' || n, 'ws_other_' || n, 'openai', '...', 'sealed'`,
    ]) {
      await client.query(`insert into ${into} from generate_series(1, ${accounts}) n`);
    }
  });
}

/** How many rows of each kind an account has. */
export interface Grown {
  readonly members: number;
  readonly keys: number;
  /** Of keys and of members, to one guardrail; at most as many as there are keys and members. */
  readonly assignments: number;
  readonly interns: number;
  readonly guardrails: number;
}

export const SMALL: Grown = { members: 100, keys: 100, assignments: 100, interns: 100, guardrails: 100 };

/**
 * Fills one workspace of an account with rows, without foreign key checks or audit lines, which would take most of the
 * time. Names begin with the account's id, so that several accounts can grow.
 */
export async function grow(
  databaseUrl: string,
  { organizationId: org, workspaceId: workspace }: { organizationId: string; workspaceId: string },
  { members, keys, assignments, interns, guardrails }: Grown,
): Promise<void> {
  await unchecked(databaseUrl, async (client) => {
    const rows = (text: string, count: number) =>
      client.query(text, text.includes('$3') ? [org, count, workspace] : [org, count]);
    const at = `timestamptz '2026-01-01' + n * interval '1 second'`;
    await rows(
      `insert into users (id, name, created_at) select $1 || '_user_' || n, 'User ' || n, ${at}
       from generate_series(1, $2::int) n`,
      members,
    );
    await rows(
      `insert into user_subjects (issuer, subject, user_id)
       select 'https://grown.test', $1 || '_subject_' || n, $1 || '_user_' || n from generate_series(1, $2::int) n`,
      members,
    );
    await rows(
      `insert into members (workspace_id, organization_id, user_id, created_at)
       select $3, $1, $1 || '_user_' || n, ${at} from generate_series(1, $2::int) n`,
      members,
    );
    await rows(
      `insert into api_keys (hash, kind, name, label, organization_id, workspace_id, created_at)
       select ${HASH}, 'api', 'key ' || n, 'sk-...', $1, $3, ${at} from generate_series(1, $2::int) n`,
      keys,
    );
    await rows(
      `insert into interns (id, organization_id, workspace_id, name, status, created_at)
       select $1 || '_int_' || n, $1, $3, 'intern ' || n, 'running', ${at} from generate_series(1, $2::int) n`,
      interns,
    );
    await rows(
      `insert into guardrails (id, organization_id, workspace_id, name, allowed_models, created_at)
       select gen_random_uuid(), $1, $3, 'guardrail ' || n, array['anthropic/claude-sonnet-4.5'], ${at}
       from generate_series(1, $2::int) n`,
      guardrails,
    );
    // All to the last guardrail, which is the newest one.
    await rows(
      `insert into guardrail_key_assignments (id, organization_id, guardrail_id, key_hash, created_at)
       select md5('ka' || $1 || n)::uuid, $1, (select id from guardrails where organization_id = $1 and workspace_id = $3
           order by created_at desc limit 1), ${HASH}, ${at} from generate_series(1, $2::int) n`,
      assignments,
    );
    await rows(
      `insert into guardrail_member_assignments (id, organization_id, guardrail_id, user_id, created_at)
       select md5('ma' || $1 || n)::uuid, $1, (select id from guardrails where organization_id = $1 and workspace_id = $3
           order by created_at desc limit 1), $1 || '_user_' || n, ${at} from generate_series(1, $2::int) n`,
      assignments,
    );
  });
}

async function unchecked(databaseUrl: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('set session_replication_role = replica');
    await work(client);
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

const HASH = `encode(sha256(convert_to($1 || '_key_' || n, 'UTF8')), 'hex')`;

/** What management remembers of requests: spent DPoP proofs and the answers to idempotency keys. */
export const REQUEST_RECORDS = `
create table spent_dpop_proofs (
  id text primary key check (length(id) = 43),
  spent_at timestamptz not null default clock_timestamp()
);
create index spent_dpop_proofs_by_time on spent_dpop_proofs (spent_at);

create table dpop_epoch (
  only_row boolean primary key default true check (only_row),
  server text not null,
  epoch text not null
);

create table idempotency_keys (
  organization_id text not null references organizations (id) on delete cascade,
  key_hash text not null check (key_hash ~ '^[0-9a-f]{64}$'),
  sealed_answer text not null,
  created_at timestamptz(3) not null default now(),
  primary key (organization_id, key_hash)
);
create index idempotency_keys_oldest on idempotency_keys (organization_id, created_at);`;

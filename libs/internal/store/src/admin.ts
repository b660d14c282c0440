export { type ApplyOptions, applyTeam, type KeyPlace } from './apply/apply-team.ts';
export { type Team, TeamFile } from './apply/team.ts';
export * from './queries/admin/admin-audit.ts';
export { AdminError, type AdminErrorCode, unlessAdminError } from './queries/admin/admin-error.ts';
export * from './queries/admin/api-keys.ts';
export * from './queries/admin/bulk-signing-keys.ts';
export * from './queries/admin/byok.ts';
export { type DueKey, dueKeys } from './queries/admin/due-keys.ts';
export * from './queries/admin/ended-keys.ts';
export * from './queries/admin/icons.ts';
export { filePartOf } from './queries/admin/ids.ts';
export * from './queries/admin/interns.ts';
export {
  type KeyStater,
  type Restated,
  restateKeys,
} from './queries/admin/key-statements.ts';
export * from './queries/admin/lists.ts';
export * from './queries/admin/members.ts';
export * from './queries/admin/named.ts';
export * from './queries/admin/organizations.ts';
export * from './queries/admin/reseal.ts';
export * from './queries/admin/revocations.ts';
export { readServerFacts } from './queries/admin/server-facts.ts';
export * from './queries/admin/sessions.ts';
export * from './queries/admin/signing-keys.ts';
export * from './queries/admin/users.ts';
export * from './queries/admin/workspaces.ts';
export { readLifecycleWrites } from './signer-sql.ts';

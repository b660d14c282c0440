export {
  type AuditEntry,
  type AuditFilter,
  compareAudit,
  endOfAudit,
  exportAudit,
  listAudit,
  whileExporting,
} from './queries/admin/admin-audit.ts';
export { AdminError, type AdminErrorCode } from './queries/admin/admin-error.ts';
export {
  type CreatedApiKey,
  createApiKey,
  disableApiKey,
  hashApiKey,
  type NewApiKey,
  organizationOf,
} from './queries/admin/api-keys.ts';
export { createCredential, deleteCredential, ownerOfCredential } from './queries/admin/byok.ts';
export { ICON_BYTES_MAX, iconTypeOf, setIcon } from './queries/admin/icons.ts';
export { createIntern, deleteIntern, updateIntern } from './queries/admin/interns.ts';
export { countByKek, type KekUsage } from './queries/admin/kek-usage.ts';
export * from './queries/admin/lists.ts';
export { addMember, removeMember, revokeSessions } from './queries/admin/members.ts';
export {
  deleteOrganization,
  readLifecycleWrites,
  renameOrganization,
  setDefaultWorkspace,
  setTurnLimits,
} from './queries/admin/organization-changes.ts';
export {
  createOrganization,
  createWorkspace,
  deleteWorkspace,
  setLifecycleWrites,
  setProgramme,
} from './queries/admin/organizations.ts';
export {
  type ResealProgress,
  type ResealReport,
  resealCredentials,
  resealSigningKeys,
} from './queries/admin/reseal.ts';
export { revocationsOf } from './queries/admin/revocations.ts';
export {
  type AddedSigningKey,
  addSigningKey,
  retireSigningKey,
  revokeSigningKey,
  rotateSigningKey,
} from './queries/admin/signing-keys.ts';
export {
  addSubject,
  createUser,
  deleteUser,
  disableUser,
  enableUser,
  removeSubject,
} from './queries/admin/users.ts';
export { type DueKey, dueKeys } from './queries/key-outlook.ts';

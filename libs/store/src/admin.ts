export { AdminError, type AdminErrorCode } from './queries/admin/admin-error.ts';
export {
  type CreatedApiKey,
  createApiKey,
  disableApiKey,
  hashApiKey,
  type NewApiKey,
} from './queries/admin/api-keys.ts';
export { createCredential, deleteCredential } from './queries/admin/byok.ts';
export { setIcon } from './queries/admin/icons.ts';
export { createIntern, type NewIntern } from './queries/admin/interns.ts';
export { addMember, removeMember, revokeSessions } from './queries/admin/members.ts';
export {
  createOrganization,
  createWorkspace,
  deleteWorkspace,
  setLifecycleWrites,
  setProgramme,
} from './queries/admin/organizations.ts';
export { type ResealReport, resealSigningKeys } from './queries/admin/reseal-signing-keys.ts';
export {
  type AddedSigningKey,
  addSigningKey,
  type NewSigningKey,
  retireSigningKey,
  rotateSigningKey,
} from './queries/admin/signing-keys.ts';
export { addSubject, createUser, disableUser, enableUser, removeSubject } from './queries/admin/users.ts';

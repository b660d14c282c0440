/**
 * The group roles that `migrate` creates and grants to. Each service uses exactly one of the first two. An operator's
 * login is a member of `ori_operator`; a member of `ori_auditor` can only read the audit.
 */
export type StoreRole = 'ori_signer' | 'ori_management' | 'ori_operator' | 'ori_auditor';

export interface TableGrant {
  /** True: every column. */
  readonly select: true | readonly string[];
  readonly update?: true | readonly string[];
  readonly insert?: true;
  readonly delete?: true;
}

/**
 * The exact privileges of a role on each table. `migrate` grants them on every run, and fails if there is no such table or column; a service
 * refuses to start with a login that has more.
 */
export interface RoleGrants {
  readonly role: StoreRole;
  readonly tables: Readonly<Record<string, TableGrant>>;
}

export const WHOLE = { select: true, insert: true, update: true, delete: true } as const;

/** The newest migration that the grants know. */
export const GRANTS_AS_OF = '0001-schema';

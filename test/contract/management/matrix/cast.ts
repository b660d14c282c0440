import { disableApiKey } from '@ori/administration/api-keys';
import { setIcon } from '@ori/administration/icons';
import { createIntern } from '@ori/administration/interns';
import { addMember } from '@ori/administration/members';
import { createOrganization } from '@ori/administration/organizations';
import { addSubject, createUser } from '@ori/administration/users';
import type { Database } from '@ori/store/database';
import { createApiKey } from '@ori/store/writes/api-keys';
import { createWorkspace } from '@ori/store/writes/workspaces';
import { createGuardrail } from '../../../../services/management/src/guardrails/queries.ts';
import type { TestIssuer } from '../../../env/issuer.ts';
import { createTestCredential } from '../world.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

export interface Workspace {
  readonly id: string;
  readonly organization: string;
  readonly isDefault: boolean;
  readonly inProgramme: boolean;
}

/** A resource with an owner; `workspace` null: it belongs to every workspace of its organization. */
export interface Owned {
  readonly id: string;
  readonly organization: string;
  readonly workspace: string | null;
}

/** A caller, with the facts that the interface's rules depend on. None of them come from the code under test. */
export interface Principal {
  readonly name: string;
  readonly bearer: string | null;
  readonly kind: 'nobody' | 'api' | 'intern' | 'management' | 'session';
  readonly organization?: string;
  /** The workspaces whose interns are visible to it. */
  readonly workspaces: readonly string[];
  readonly intern?: string;
  readonly scopes?: readonly string[];
}

export interface Cast {
  readonly workspaces: readonly Workspace[];
  readonly interns: readonly Owned[];
  readonly credentials: readonly Owned[];
  readonly guardrails: readonly Owned[];
  readonly keyHashes: readonly Owned[];
  /** The interns' own keys. */
  readonly internKeys: readonly Owned[];
  readonly members: readonly Owned[];
  readonly principals: readonly Principal[];
}

type Grown = { -readonly [Name in keyof Cast]: Cast[Name][number][] };

/**
 * Two organizations with three workspaces each, one of them outside the programme, and every kind of resource in each. The
 * callers are of the first one: what they own and what is another's differ in nothing but that.
 */
export async function createCast(store: Database, issuer: TestIssuer): Promise<Cast> {
  const cast: Grown = {
    workspaces: [],
    interns: [],
    credentials: [],
    guardrails: [],
    keyHashes: [],
    internKeys: [],
    members: [],
    principals: [
      { name: 'no bearer', bearer: null, kind: 'nobody', workspaces: [] },
      { name: 'an unknown key', bearer: `sk-ori-v1-${'0'.repeat(64)}`, kind: 'nobody', workspaces: [] },
      {
        name: 'a session of nobody',
        bearer: await issuer.token({ subject: 'nobody', scope: 'interns' }),
        kind: 'session',
        workspaces: [],
        scopes: ['interns'],
      },
    ],
  };
  await addOrganization(cast, 'A', store, issuer);
  const principals = [...cast.principals];
  await addOrganization(cast, 'B', store, issuer);
  return { ...cast, principals };
}

async function addOrganization(cast: Grown, name: string, store: Database, issuer: TestIssuer) {
  const { id: organization } = await createOrganization(store, { name });
  const { id: userId } = await createUser(store, { name });
  const subject = `subject-${userId}`;
  await addSubject(store, { userId, issuer: issuer.url, subject });
  cast.members.push({ id: userId, organization, workspace: null });
  const visible: string[] = [];

  for (const [index, inProgramme] of [true, true, false].entries()) {
    const isDefault = index === 0;
    const { id: workspace } = await createWorkspace(store, {
      organizationId: organization,
      name: `${name}${index}`,
      inProgramme,
      isDefault,
    });
    cast.workspaces.push({ id: workspace, organization, isDefault, inProgramme });
    if (index < 2) await addMember(store, { workspaceId: workspace, userId });
    if (index < 2 && inProgramme) visible.push(workspace);
    await furnish(cast, { organization, workspace, inProgramme, label: `${name}${index}` }, store);
  }
  cast.credentials.push({
    id: await createTestCredential(store, { organizationId: organization } as never, { workspace_id: null }),
    organization,
    workspace: null,
  });
  for (const scope of ['interns', 'vault:read', 'interns vault:read']) {
    cast.principals.push({
      name: `a session of ${name} (${scope})`,
      bearer: await issuer.token({ subject, scope }),
      kind: 'session',
      workspaces: visible,
      scopes: scope.split(' '),
    });
  }
  const managing = await createApiKey(store, { kind: 'management', name, organizationId: organization });
  cast.principals.push({
    name: `management key of ${name}`,
    bearer: managing.key,
    kind: 'management',
    organization,
    workspaces: [],
  });
  const disabled = await createApiKey(store, { kind: 'management', name, organizationId: organization });
  await disableApiKey(store, { hash: disabled.hash });
  cast.principals.push({
    name: `disabled management key of ${name}`,
    bearer: disabled.key,
    kind: 'nobody',
    workspaces: [],
  });
}

interface Place {
  readonly organization: string;
  readonly workspace: string;
  readonly inProgramme: boolean;
  readonly label: string;
}

async function furnish(
  cast: Grown,
  { organization, workspace, inProgramme, label }: Place,
  store: Database,
): Promise<void> {
  const owner = { organization, workspace };
  const { id: intern } = await createIntern(store, { workspaceId: workspace, name: label });
  await setIcon(store, { internId: intern, bytes: PNG });
  cast.interns.push({ id: intern, ...owner });
  cast.credentials.push({
    id: await createTestCredential(store, { organizationId: organization, workspaceId: workspace } as never),
    ...owner,
  });
  const account = { organizationId: organization };
  const guardrail = await createGuardrail(store, account, workspace, { name: label });
  cast.guardrails.push({ id: guardrail.id, ...owner });

  const workspaces = inProgramme ? [workspace] : [];
  const api = { kind: 'api', name: label, workspaceId: workspace } as const;
  const ordinary = await createApiKey(store, api);
  cast.keyHashes.push({ id: ordinary.hash, ...owner });
  const ofKey = { organization, workspaces };
  cast.principals.push({ name: `key of ${label}`, bearer: ordinary.key, kind: 'api', ...ofKey });
  const own = await createApiKey(store, { ...api, internId: intern });
  cast.internKeys.push({ id: own.hash, ...owner });
  cast.principals.push({
    name: `intern's key of ${label}`,
    bearer: own.key,
    kind: 'intern',
    intern,
    ...ofKey,
  });
  const disabled = await createApiKey(store, api);
  await disableApiKey(store, disabled);
  const nobody = { kind: 'nobody', workspaces: [] } as const;
  cast.principals.push({ name: `disabled key of ${label}`, bearer: disabled.key, ...nobody });
}

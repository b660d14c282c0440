import { setIcon } from '@ori/administration/icons';
import { createIntern } from '@ori/administration/interns';
import { addSigningKey, type SigningHome } from '@ori/administration/signing-keys';
import type { Database } from '@ori/store/database';

export async function createSigningIntern(
  db: Database,
  home: SigningHome,
  intern: { id?: string; workspaceId: string; name: string; createdBy: string },
): Promise<void> {
  const { createdBy, name, ...place } = intern;
  const { id: internId } = await createIntern(db, {
    ...place,
    name,
    description: `The demo intern ${name}.`,
    hostname: `${name}.interns.example`,
    model: 'anthropic/claude-sonnet-4.5',
    status: 'running',
    vault_id: `vault_${name}`,
    createdByUserId: createdBy,
  });
  await addSigningKey(db, { internId, ...home });
}

/** Interns in other states, for lists. The signer signs calls to them like any other. Resolves to the id of one. */
export async function createOtherInterns(
  db: Database,
  home: SigningHome,
  workspaceId: string,
  createdByUserId: string,
): Promise<string> {
  const failed = await createIntern(db, {
    workspaceId,
    name: 'jacquard',
    hostname: 'jacquard.interns.example',
    model: 'openai/gpt-5',
    status: 'failed',
    last_failure_message: 'The machine did not start: no thread left.',
    createdByUserId,
  });
  const provisioning = await createIntern(db, {
    workspaceId,
    name: 'analytical',
    hostname: 'analytical.interns.example',
    model: 'anthropic/claude-opus-4.1',
    status: 'provisioning',
    instructions: 'Weave algebraical patterns.',
    progress: { step_label: 'Assembling the mill', step_number: 2, total_steps: 5 },
    createdByUserId,
  });
  for (const { id: internId } of [failed, provisioning]) await addSigningKey(db, { internId, ...home });
  return provisioning.id;
}

/** A blue ring, 16 by 16. */
const ICON = Buffer.from(
  [
    'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAMAAAAoLQ9TAAAABlBMVEX///8dTtinztswAAAANklEQVR42mNggABGRgYkwAgF',
    '6HyYCCMjqggGA1UphEIyDFkBlI0hgKEFq6HY7MfhVFyeQ/E+AEUQAIGKMZvwAAAAAElFTkSuQmCC',
  ].join(''),
  'base64',
);

export async function setDemoIcon(db: Database, internId: string): Promise<void> {
  await setIcon(db, { internId, bytes: ICON });
}

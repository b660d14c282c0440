import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSigningKey } from '@ori/proof/signing';
import { renderCheckpoint } from '@ori/tlog/checkpoint';
import { cosign } from '@ori/tlog/cosignature';
import { createLogKeys } from '@ori/tlog/log-keys';
import { renderNote, signNote } from '@ori/tlog/note';
import { afterAll, expect, it } from 'vitest';
import { openWitness } from './witness.ts';

const ORIGIN = 'log.example/log';
const folder = await mkdtemp(join(tmpdir(), 'ori-witness-'));
afterAll(() => rm(folder, { recursive: true }));
const keys = createLogKeys(ORIGIN, randomBytes(32).toString('base64'));
const witness = await openWitness({
  name: 'witness.example/w1',
  keys: [createSigningKey(randomBytes(32))],
  policy: {
    logs: [
      { key: keys.logKey, url: undefined },
      { key: keys.logMlDsaKey, url: undefined },
    ],
  },
  folder,
  now: Date.now,
});

/** A checkpoint of a tree that is named by its root, with the log's signatures of one or both kinds. */
function checkpoint(size: number, name: string, kinds = 2): string {
  const root = createHash('sha256').update(name).digest();
  const text = renderCheckpoint({ origin: ORIGIN, size, root });
  const signatures = [signNote(text, ORIGIN, keys.log), cosign(text, 0, ORIGIN, keys.logMlDsa)];
  return renderNote({ text, signatures: signatures.slice(0, kinds) });
}

it('keeps both checkpoints as evidence when a log signs two trees of one size, and only then', async () => {
  const [one, other] = [checkpoint(5, 'one'), checkpoint(5, 'other')];
  expect(await witness.addCheckpoint(`old 0\n\n${one}`)).toMatchObject({ status: 200 });
  const refused = await witness.addCheckpoint(`old 5\n\n${other}`);
  expect(refused).toMatchObject({ status: 409, misbehaviour: { submitted: other } });
  expect(refused.misbehaviour?.cosigned).toContain(one.split('\n')[2]);
  // Without a valid proof, a larger tree is nobody's fault but the sender's.
  const larger = await witness.addCheckpoint(`old 5\n\n${checkpoint(6, 'larger')}`);
  expect([larger.status, larger.misbehaviour]).toEqual([422, undefined]);
});

it('cosigns nothing that the log signed with only one kind of its keys', async () => {
  const submission = `old 5\n\n${checkpoint(5, 'one', 1)}`;
  expect(await witness.addCheckpoint(submission)).toMatchObject({ status: 403 });
  expect(await witness.addCheckpoint(`old 5\n\n${checkpoint(5, 'one')}`)).toMatchObject({ status: 200 });
});

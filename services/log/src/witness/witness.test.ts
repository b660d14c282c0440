import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderCheckpoint } from '@ori/tlog/checkpoint';
import { cosign, cosignerKey, verifyCosignature } from '@ori/tlog/cosignature';
import { createLogKeys, createWitnessKeys } from '@ori/tlog/log-keys';
import { EMPTY_ROOT, nodeHash } from '@ori/tlog/merkle';
import { isBy, parseNote, parseSignature, renderNote, signNote } from '@ori/tlog/note';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openWitness, type Witness } from './witness.ts';

const ORIGIN = 'log.example/log';
const NAME = 'witness.example/w1';
const NOW = 1_700_000_000_999;
const keys = createLogKeys(ORIGIN, Buffer.alloc(32, 7).toString('base64'));
const otherKeys = createLogKeys(ORIGIN, Buffer.alloc(32, 8).toString('base64'));
const otherLog = createLogKeys('other.example/log', Buffer.alloc(32, 6).toString('base64'));
const own = createWitnessKeys(Buffer.alloc(32, 9));
const ORIGIN_HASH = createHash('sha256').update(ORIGIN).digest('hex');

let folder: string;
let witness: Witness;
const opened = () =>
  openWitness({
    name: NAME,
    keys: [own.ed25519, own.mlDsa],
    policy: {
      logs: [
        { key: keys.logKey, url: undefined },
        { key: keys.logMlDsaKey, url: undefined },
        { key: otherLog.logKey, url: undefined },
      ],
    },
    folder: join(folder, 'witness'),
    now: () => NOW,
  });
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-witness-'));
  witness = await opened();
});
afterEach(() => rm(folder, { recursive: true }));

const rootOf = (name: string): Uint8Array => createHash('sha256').update(name).digest();

/** A checkpoint of a tree that is named by its root, with the log's signatures. */
function checkpoint(size: number, root: string | Uint8Array, by = keys, signing = keys): string {
  const origin = by.logKey.name;
  const bytes = typeof root === 'string' ? rootOf(root) : root;
  const text = renderCheckpoint({ origin, size, root: bytes });
  return renderNote({
    text,
    signatures: [signNote(text, origin, signing.log), cosign(text, 0, origin, signing.logMlDsa)],
  });
}
const submit = (old: number, note: string, proof: readonly Uint8Array[] = []) =>
  witness.addCheckpoint(
    `old ${old}\n${proof.map((hash) => `${Buffer.from(hash).toString('base64')}\n`).join('')}\n${note}`,
  );

it('cosigns a checkpoint with all of its keys, at its time, and keeps it also over a restart', async () => {
  const note = checkpoint(5, 'one');
  const { text } = parseNote(note);
  const { status, body } = await submit(0, note);
  expect(status).toBe(200);
  const made = body.trimEnd().split('\n').map(parseSignature);
  const times = [own.ed25519, own.mlDsa].map((signer) => {
    const key = cosignerKey(NAME, signer);
    const one = made.find((signature) => isBy(key, signature));
    return one && verifyCosignature(text, one, key);
  });
  expect([made.length, times]).toEqual([2, [1_700_000_000, 1_700_000_000]]);
  for (const one of [witness, await opened()]) {
    const kept = parseNote((await one.checkpoint(ORIGIN_HASH)) ?? '');
    expect([kept.text, kept.signatures.length]).toEqual([text, 4]);
    expect(kept.signatures).toEqual([...parseNote(note).signatures, ...made]);
  }
});

it('cosigns a tree that extends the one before, and its own again', async () => {
  const [left, right] = [rootOf('left'), rootOf('right')];
  expect(await submit(0, checkpoint(0, EMPTY_ROOT))).toMatchObject({ status: 200 });
  expect(await submit(0, checkpoint(1, left))).toMatchObject({ status: 200 });
  expect(await submit(1, checkpoint(1, left))).toMatchObject({ status: 200 });
  expect(await submit(1, checkpoint(2, nodeHash(left, right)), [right])).toMatchObject({ status: 200 });
});

it.each<[string, number, () => Promise<unknown>]>([
  ['that is none', 400, () => witness.addCheckpoint('hello')],
  ['without a note', 400, () => submit(5, 'hello')],
  ['whose old tree is larger', 400, () => submit(6, checkpoint(5, 'one'))],
  ['of a log that it does not know', 404, () => submit(5, checkpoint(5, 'one', createUnknown()))],
  ['that the log did not sign', 403, () => submit(5, checkpoint(5, 'one', keys, otherKeys))],
  [
    'that the log signed with only one kind of its keys',
    403,
    () => submit(5, first(checkpoint(5, 'one'), 1)),
  ],
  ['that only another log signed', 403, () => submit(5, checkpoint(5, 'one', keys, otherLog))],
  ['with a signature of another checkpoint', 403, () => submit(5, swapped())],
  ['from another size than it has cosigned', 409, () => submit(4, checkpoint(5, 'one'))],
  ['of a larger tree without a proof', 422, () => submit(5, checkpoint(6, 'larger'))],
])('refuses a submission %s: %i', async (_what, status, refused) => {
  const note = checkpoint(5, 'one');
  await submit(0, note);
  const answer = await refused();
  expect(answer).toMatchObject({ status });
  expect(answer).not.toHaveProperty('isContradiction');
  if (status === 409) expect(answer).toMatchObject({ body: '5\n' });
  expect(parseNote((await witness.checkpoint(ORIGIN_HASH)) ?? '').text).toBe(parseNote(note).text);
});

const createUnknown = () => createLogKeys('unknown.example/log', Buffer.alloc(32, 7).toString('base64'));

/** The note with the first signatures only. */
function first(note: string, count: number): string {
  const { text, signatures } = parseNote(note);
  return renderNote({ text, signatures: signatures.slice(0, count) });
}

/** A note whose second signature is of another tree. */
function swapped(): string {
  const [one, other] = [parseNote(checkpoint(5, 'one')), parseNote(checkpoint(5, 'other'))];
  return renderNote({
    text: one.text,
    signatures: [one.signatures, other.signatures].map((all, at) => all[at] as never),
  });
}

it('refuses an empty tree with the root of another, before and after it has cosigned the empty one', async () => {
  const wrong = checkpoint(0, 'not empty');
  expect(await submit(0, wrong)).toMatchObject({ status: 422 });
  await submit(0, checkpoint(0, EMPTY_ROOT));
  expect(await submit(0, wrong)).toMatchObject({ status: 422 });
});

it('keeps both checkpoints as evidence when a log signs two trees of one size', async () => {
  const [one, other] = [checkpoint(5, 'one'), checkpoint(5, 'other')];
  await submit(0, one);
  const refused = await submit(5, other);
  expect(refused).toMatchObject({ status: 409, body: '5\n', isContradiction: true });
  const evidence = () => readFile(join(folder, 'witness', `${ORIGIN_HASH}.evidence`), 'utf8');
  const first = await evidence();
  expect(first).toBe(`${await witness.checkpoint(ORIGIN_HASH)}\n${other}`);
  expect(await submit(5, checkpoint(5, 'third'))).toHaveProperty('isContradiction');
  expect(await evidence()).toBe(first);
});

it('cosigns one of two trees that are submitted at once', async () => {
  const both = ['one', 'other'].map((name) => submit(0, checkpoint(5, name)));
  const answers = await Promise.all(both);
  expect(answers.map(({ status }) => status)).toEqual([200, 409]);
});

it('keeps the checkpoints of its logs apart', async () => {
  expect(await submit(0, checkpoint(5, 'one'))).toMatchObject({ status: 200 });
  expect(await submit(0, first(checkpoint(7, 'two', otherLog, otherLog), 1))).toMatchObject({ status: 200 });
  expect(await witness.checkpoint(ORIGIN_HASH)).toContain(ORIGIN);
});

it('does not take a checkpoint that it cannot read for none, and goes on when it can', async () => {
  const path = join(folder, 'witness', ORIGIN_HASH);
  await mkdir(path);
  await expect(submit(0, checkpoint(5, 'one'))).rejects.toThrow();
  await rm(path, { recursive: true });
  expect(await submit(0, checkpoint(5, 'one'))).toMatchObject({ status: 200 });
});

it.each([`x${ORIGIN_HASH}`, `${ORIGIN_HASH}x`, `${ORIGIN_HASH}0`, ORIGIN_HASH.slice(1), 'checkpoint'])(
  'shows no file by another name than the hash of an origin: %s',
  async (name) => {
    await writeFile(join(folder, 'witness', name), checkpoint(5, 'one'));
    expect(await witness.checkpoint(name)).toBeUndefined();
  },
);

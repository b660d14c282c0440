import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { signingInputV1, signingInputV2 } from '@ori/proof';
import { capturedLog } from '@ori/test-env/captured-log';
import { commitmentV1, commitmentV2, type ProofEntry, parseEntry } from '@ori/tlog/entry';
import { createLogKeys } from '@ori/tlog/log-keys';
import { encodeCommitments } from '@ori/tlog/lookup';
import { expect, test } from 'vitest';
import { clientOf, openLogWorld, untilSize } from './log-world.ts';
import { appendLines } from './signer-lines.ts';

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();
const secret = (name: string) => `${name}_${randomBytes(12).toString('hex')}`;

/** A call of which an attacker may know everything except its nonce and request id. */
const CALL = {
  issuer: `https://${secret('issuer')}.example`,
  subject: secret('subject'),
  userId: secret('usr'),
  workspaceId: secret('ws'),
  organizationId: secret('org'),
  internId: secret('int'),
  timestamp: Math.floor(Date.now() / 1000),
  bodySha256: sha256(secret('body')).toString('hex'),
  method: 'POST',
  path: `/${secret('path')}`,
  keyId: secret('kid'),
} as const;
const { timestamp, subject: user, internId, bodySha256, method, path } = CALL;
const named = { internId, timestamp, user, bodySha256 };
const v1 = signingInputV1(named);
const v2With = (nonce: string) => commitmentV2(signingInputV2({ ...named, nonce, method, path }));

/** The audit line of one more such call. */
function callLine() {
  const nonce = randomBytes(16).toString('base64url');
  const requestId = randomUUID();
  const members = { event: 'proof_issued', requestId, versions: [1, 2], nonce, ...CALL };
  const line = JSON.stringify({ time: new Date(timestamp * 1000).toISOString(), ...members });
  return { line, nonce, requestId, v2: v2With(nonce), inputV1: v1 };
}

/** A log of two calls that differ only in nonce and request id, with everything that it wrote and answered. */
async function logCalls() {
  const world = await openLogWorld();
  await writeFile(world.auditFile, '');
  const { log: logger, text } = capturedLog();
  const log = await world.start({}, { log: logger });
  const calls = [callLine(), callLine()] as const;
  await appendLines(world.auditFile, calls);
  const client = clientOf(log);
  const head = await untilSize(client, calls.length);
  const entries = (await client.bundle(0, head)).map((entry) => parseEntry(entry) as ProofEntry);
  const lookup = async (commitment: Uint8Array) => {
    const body = encodeCommitments([commitment]);
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    return (await fetch(`${log.url}/lookup`, init)).text();
  };
  const metrics = await (await fetch(`${log.opsUrl}/metrics`)).text();
  const answers = [head.note, await lookup(calls[0].v2), await lookup(randomBytes(32)), metrics];
  const files = await filesIn([world.env['LOG_FOLDER'], world.env['LOG_GUARD_FOLDER']] as string[]);
  const seed = world.env['LOG_KEY'] as string;
  const said = Buffer.concat([...files, Buffer.from(answers.join('\n')), Buffer.from(text())]);
  await world[Symbol.asyncDispose]();
  return { calls, entries, said, keys: createLogKeys(world.env['LOG_ORIGIN'] as string, seed), seed };
}

async function filesIn(folders: readonly string[]): Promise<Buffer[]> {
  const entries = await Promise.all(
    folders.map((folder) => readdir(folder, { recursive: true, withFileTypes: true })),
  );
  const paths = entries
    .flat()
    .flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []));
  return Promise.all(paths.map((file) => readFile(file)));
}

const logged = await logCalls();

test('nothing that the log serves, stores or reports contains a fact of a call, or its hash', () => {
  const [{ nonce, requestId }] = logged.calls;
  const { method: _, timestamp: __, ...facts } = CALL;
  const bytes = Buffer.from(bodySha256, 'hex');
  for (const fact of [...Object.values(facts), nonce, requestId, bytes, logged.seed]) {
    const forms = [fact, sha256(fact), sha256(fact).toString('hex'), sha256(fact).toString('base64')];
    for (const form of forms) expect(logged.said.includes(form), String(fact)).toBe(false);
  }
  // A check of the search itself: it finds public values.
  expect(logged.said.includes(Buffer.from(logged.calls[0].v2))).toBe(true);
});

test('the leaf of a call can be recognized with its nonce, but not guessed without it', () => {
  const [{ v2, nonce, requestId, line }] = logged.calls;
  const { keys, entries } = logged;
  const commitments = entries.flatMap((entry) =>
    Object.values(entry).map((one) => Buffer.from(one).toString('hex')),
  );
  const isThere = (commitment: Uint8Array) => commitments.includes(Buffer.from(commitment).toString('hex'));
  expect([v2, commitmentV1(v1, keys.v1KeyOf(internId)), sha256(line)].map(isThere)).toEqual([
    true,
    true,
    true,
  ]);
  const otherNonce = randomBytes(16).toString('base64url');
  const guesses = {
    'the version 1 signing input': sha256(v1),
    'the same, hashed twice': sha256(sha256(v1)),
    'the same, under the key of another intern': commitmentV1(v1, keys.v1KeyOf('int_other')),
    'another nonce': v2With(otherNonce),
    'the line with another nonce': sha256(line.replace(nonce, otherNonce)),
    'the line with another request id': sha256(line.replace(requestId, randomUUID())),
    'the line without both': sha256(line.replace(/"(requestId|nonce)":"[^"]*",/g, '')),
  };
  for (const [what, guess] of Object.entries(guesses)) expect(isThere(guess), what).toBe(false);
});

test('only the version 1 commitments reveal that two calls within a second are the same', () => {
  const [one, other] = logged.entries;
  const same = (['v2', 'v1', 'line'] as const).map(
    (name) => Buffer.compare(one?.[name] ?? Buffer.of(), other?.[name] ?? Buffer.of()) === 0,
  );
  expect(same).toEqual([false, true, false]);
});

import { createServer } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { createSigningKey } from '@ori/proof/signing';
import { serveInTest } from '@ori/test-env/serve-in-test';
import { cosign, cosignerKey, type NoteSigner } from '@ori/tlog/cosignature';
import { createLogKeys } from '@ori/tlog/log-keys';
import { leafHash, nodeHash, type Subtrees, verifyConsistency } from '@ori/tlog/merkle';
import { decodeBase64, renderNote, renderSignature, renderVkey } from '@ori/tlog/note';
import { parsePolicy } from '@ori/tlog/policy';
import { openTree } from '@ori/tlog/tree';
import { expect, it } from 'vitest';
import { signHead } from './publisher.ts';
import { createWitnesses, witnessesToAsk } from './witnesses.ts';

const keys = createLogKeys('log.example/log', Buffer.alloc(32, 7).toString('base64'));
const own = createSigningKey(Buffer.alloc(32, 8));
const other = createSigningKey(Buffer.alloc(32, 9));

const entry = (at: number) => Buffer.concat([Uint8Array.of(1), Buffer.alloc(96, at)]);
const subtrees: Subtrees = (height, index) =>
  height === 0
    ? leafHash(entry(index))
    : nodeHash(subtrees(height - 1, 2 * index), subtrees(height - 1, 2 * index + 1));
function headOf(size: number) {
  const tree = openTree();
  for (let at = 0; at < size; at++) tree.append(entry(at));
  return { size, root: tree.root() };
}
function submissionOf(size: number) {
  const head = headOf(size);
  const { text, signatures } = signHead(keys, head);
  return { head, text, note: renderNote({ text, signatures }), subtrees: () => subtrees };
}

interface Asked {
  readonly path: string | undefined;
  readonly old: number;
  readonly proof: Buffer[];
  readonly note: string;
}
type Answer = { status?: number; text: string; location?: string };

/** A witness that answers as told, and what it was asked. */
async function witnessThat(answer: (asked: Asked) => Answer | undefined) {
  const asked: Asked[] = [];
  const server = createServer(async (req, res) => {
    const body = await textOf(req);
    const end = body.indexOf('\n\n');
    const [first = '', ...proof] = body.slice(0, end).split('\n');
    const question = {
      path: `${req.method} ${req.url}`,
      old: Number(first.replace(/^old /, '')),
      proof: proof.map((line) => decodeBase64(line) ?? Buffer.alloc(0)),
      note: body.slice(end + 2),
    };
    asked.push(question);
    const said = answer(question);
    if (said === undefined) return;
    const { status = 200, text, location } = said;
    res.writeHead(status, location === undefined ? {} : { location }).end(text);
  });
  const { url } = await serveInTest(server);
  return { url: `${url}/w/`, asked };
}

const signatureOf = (note: string, name: string, signer: NoteSigner, time = 5) =>
  `${renderSignature(cosign(note.slice(0, note.indexOf('\n\n') + 1), time, name, signer))}\n`;
const cosigning = ({ note }: Asked): Answer => ({ text: signatureOf(note, 'w1', own) });

function witnessesOf(lines: string[], timeoutMs = 10_000) {
  const failed: string[] = [];
  const policy = parsePolicy([...lines, 'quorum none'].join('\n'));
  const witnesses = createWitnesses(policy, { timeoutMs, onFailure: (name) => failed.push(name) });
  return { witnesses, failed, policy };
}
const lineOf = (url: string, name = 'w1', signer: NoteSigner = own) =>
  `witness ${name} ${renderVkey(cosignerKey(name, signer))} ${url}`;

it('asks the witnesses that have an address', () => {
  const { policy } = witnessesOf([lineOf('https://w1.example'), lineOf('', 'w2', other)]);
  expect(witnessesToAsk(policy).map(([name]) => name)).toEqual(['w1']);
  expect(witnessesToAsk(undefined)).toEqual([]);
});

it('shows a witness each tree with the proof that it extends the one cosigned before', async () => {
  const { url, asked } = await witnessThat(cosigning);
  const { witnesses, failed } = witnessesOf([lineOf(url)]);
  const submissions = [3, 7].map(submissionOf);
  for (const one of submissions) expect([...(await witnesses.cosign(one)).keys()]).toEqual(['w1']);
  expect(failed).toEqual([]);
  expect(asked.map(({ path, old }) => [path, old])).toEqual([
    ['POST /w/add-checkpoint', 0],
    ['POST /w/add-checkpoint', 3],
  ]);
  expect(asked[1]?.note).toBe(submissions[1]?.note);
  expect(verifyConsistency(headOf(3), headOf(7), asked[1]?.proof ?? [])).toBe(true);
  await witnesses.cosign(submissionOf(5));
  expect(asked[2]?.old).toBe(5);
});

it('asks again from the size that the witness has, and reports one that has more', async () => {
  let size = 3;
  const { url, asked } = await witnessThat((question) =>
    question.old === size ? cosigning(question) : { status: 409, text: `${size}\n` },
  );
  const { witnesses, failed } = witnessesOf([lineOf(url)]);
  expect((await witnesses.cosign(submissionOf(7))).size).toBe(1);
  expect(verifyConsistency(headOf(3), headOf(7), asked[1]?.proof ?? [])).toBe(true);
  size = 8;
  expect((await witnesses.cosign(submissionOf(8))).size).toBe(1);
  expect(asked.map(({ old }) => old)).toEqual([0, 3, 7, 8]);
  size = 9;
  await expect(witnesses.cosign(submissionOf(8))).rejects.toMatchObject({ code: 'witness_is_ahead' });
  expect(failed).toEqual([]);
});

it('does not keep more of an answer than a cosignature can take', async () => {
  const server = createServer((_req, res) => {
    const more = () => {
      while (!res.destroyed && res.write(Buffer.alloc(65_536, 'x')));
    };
    res.on('drain', more);
    more();
  });
  const { url } = await serveInTest(server);
  const { witnesses, failed } = witnessesOf([lineOf(url)]);
  expect(await witnesses.cosign(submissionOf(3))).toEqual(new Map());
  expect(failed).toEqual(['w1']);
}, 5000);

it.each<[string, (asked: Asked) => Answer | undefined]>([
  ['refuses', ({ note }) => ({ status: 403, text: signatureOf(note, 'w1', own) })],
  ['has another size but does not say which', () => ({ status: 409, text: 'more\n' })],
  ['answers no signature', () => ({ text: 'yes\n' })],
  ['answers the signature of another', ({ note }) => ({ text: signatureOf(note, 'w2', other) })],
  [
    'answers a signature by its name of another key',
    ({ note }) => ({ text: signatureOf(note, 'w1', other) }),
  ],
  [
    'answers the signature of another checkpoint',
    () => ({ text: signatureOf(submissionOf(4).note, 'w1', own) }),
  ],
  ['does not say when it signed', ({ note }) => ({ text: signatureOf(note, 'w1', own, 0) })],
  ['answers more than 64 KiB', ({ note }) => ({ text: signatureOf(note, 'w1', own).padEnd(65_535, '\n') })],
  ['sends elsewhere', () => ({ status: 302, text: '', location: '/add-checkpoint' })],
  ['is silent', () => undefined],
])('does without a witness that %s', async (what, answer) => {
  const silent = what === 'is silent';
  const { url } = await witnessThat((asked) =>
    asked.path === 'GET /add-checkpoint' ? cosigning(asked) : answer(asked),
  );
  const good = await witnessThat(({ note }) => ({ text: signatureOf(note, 'w2', other) }));
  const lines = [lineOf(url), lineOf(good.url, 'w2', other)];
  const { witnesses, failed } = witnessesOf(lines, silent ? 300 : 10_000);
  expect([...(await witnesses.cosign(submissionOf(3))).keys()]).toEqual(['w2']);
  expect(failed).toEqual(['w1']);
});

// The dash of a signature is three bytes.
it('takes an answer of 64 KiB', async () => {
  const { url } = await witnessThat((asked) => ({ text: cosigning(asked).text.padEnd(65_534, '\n') }));
  const { witnesses } = witnessesOf([lineOf(url)]);
  expect((await witnesses.cosign(submissionOf(3))).size).toBe(1);
});

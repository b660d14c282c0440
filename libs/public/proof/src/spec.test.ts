import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SMALL_ORDER_SPELLINGS } from './curve-edge-cases.fixture.ts';
import {
  isBodySha256,
  isInternId,
  isNonce,
  isTimestamp,
  type ProofErrorCode,
  thumbprint,
  type UnavailableErrorCode,
} from './index.ts';

const SPEC = readFileSync(join(import.meta.dirname, '../SPEC.md'), 'utf8');
/** The text without the padding of table columns. */
const TABLES = SPEC.replaceAll(/ +\|/g, ' |');
const COMMANDS = /```bash\n(.*?)```/s.exec(SPEC)?.[1] ?? '';

function bash(commands: string): string {
  return execFileSync('bash', ['-c', commands], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

test('the openssl commands of SPEC.md verify the worked example unchanged', () => {
  expect(bash(COMMANDS)).toBe('Signature Verified Successfully\nSignature Verified Successfully\n');
});

test.each([
  ['the intern', 'intern=int_7Qm2', 'intern=int_7Qm3'],
  ['the timestamp', 'timestamp=1789000000', 'timestamp=1789000001'],
  ['the user', 'user=user_2abc', 'user=user_2abd'],
  ['the body', '{"prompt":"hello"}', '{"prompt":"hellp"}'],
  ['the key', 'pem 11qY', 'pem 21qY'],
  ['the version 2 nonce', 'nonce=AAEC', 'nonce=BAEC'],
  ['the version 2 path', 'path=/api/invoke', 'path=/api/invoke/'],
])('the openssl commands of SPEC.md fail when %s differs', (_, from, to) => {
  expect(COMMANDS).toContain(from);
  expect(() => bash(COMMANDS.replace(from, to))).toThrow();
});

test('the commands of SPEC.md build the bytes of its worked example', () => {
  const printed = bash(`${COMMANDS}\nprintf '\\n'; cat v1.input; printf '\\n'; cat v2.input`).split('\n');
  for (const input of printed.slice(-2)) expect(SPEC).toContain(` ${input}\n`);
});

test('the key id of the worked example is the thumbprint of its key', () => {
  const [, x, kid] = /^ {4}x {6}(\S+)\n {4}kid {4}(\S+)$/m.exec(SPEC) ?? [];
  expect(thumbprint(Buffer.from(x ?? '', 'base64url'))).toBe(kid);
});

test.each([
  ['internId', isInternId],
  ['timestamp', isTimestamp],
  ['bodySha256', isBodySha256],
  ['nonce', isNonce],
])('the alphabet of SPEC.md for %s is the one that the code uses', (field, isInAlphabet) => {
  const [, written = ''] = new RegExp(`^\\| ${field} \\| \`([^\`]+)\``, 'm').exec(TABLES) ?? [];
  const pattern = new RegExp(`^(?:${written.replaceAll('\\|', '|')})$`);
  fc.assert(fc.property(fc.stringMatching(pattern), (text) => isInAlphabet(text)));
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => isInAlphabet(text) === pattern.test(text)));
});

test('the small-order encodings that SPEC.md lists are the 14', () => {
  const listed = [...SPEC.matchAll(/^ {4}([0-9a-f]{64}) {3}/gm)].flatMap(([, hex = '']) => {
    const clear = Buffer.from(hex, 'hex');
    const set = Buffer.from(clear.map((byte, index) => (index === 31 ? byte | 0x80 : byte)));
    return [hex, set.toString('hex')];
  });
  expect(listed.toSorted()).toEqual(
    SMALL_ORDER_SPELLINGS.map((bytes) => Buffer.from(bytes).toString('hex')).toSorted(),
  );
});

test('SPEC.md lists exactly the refusal codes with their statuses', () => {
  const statuses = {
    proof_missing: 401,
    proof_malformed: 401,
    proof_version_not_accepted: 401,
    request_not_coverable: 401,
    proof_expired: 401,
    proof_not_yet_valid: 401,
    key_unknown: 401,
    signature_invalid: 401,
    nonce_replayed: 401,
    nonce_not_issued: 401,
    proof_before_fence: 401,
    body_too_large: 413,
    keys_unavailable: 503,
    replay_store_unavailable: 503,
    replay_store_unsafe: 503,
    replay_store_full: 503,
  } satisfies Record<ProofErrorCode | UnavailableErrorCode, number>;
  const listed = [...TABLES.matchAll(/^\| `([a-z_]+)` \| .* \| (\d{3}) \|$/gm)];
  expect(Object.fromEntries(listed.map(([, code, status]) => [code, Number(status)]))).toEqual(statuses);
});

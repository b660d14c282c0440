import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { base64 } from './base64.ts';
import { SMALL_ORDER_SPELLINGS } from './curve-edge-cases.fixture.ts';
import {
  isBodySha256,
  isInternId,
  isNonce,
  isPath,
  isTimestamp,
  isUser,
  type ProofErrorCode,
  thumbprint,
  type UnavailableErrorCode,
} from './index.ts';
import { PROOF_HEADERS, VERSIONS } from './versions.ts';

const read = (name: string): string => readFileSync(join(import.meta.dirname, '..', name), 'utf8');
const SPEC = read('SPEC.md');
const COMMANDS = /```bash\n(.*?)```/s.exec(read('README.md'))?.[1] ?? '';
/** Name -> definition of each rule of the ABNF. */
const RULES = new Map(
  [...(/```text\n(.*?)```/s.exec(SPEC)?.[1] ?? '').matchAll(/^([\w-]+) += ([^;\n]+)/gm)].map(
    ([, name = '', definition = '']) => [name, definition.trim()],
  ),
);

/** The regular expression of ABNF (RFC 5234), as far as SPEC.md uses it. */
function patternOf(rule: string): string {
  const tokens = /%s"(\w+)"|"([^"]+)"|%x(\w+)(?:-(\w+))?|(\d*)(\*?)(\d*)(\(|[a-z][\w-]*)|([)/])| +/g;
  const closing: string[] = [];
  const translated = (RULES.get(rule) ?? '').replaceAll(tokens, (_, ...groups: (string | undefined)[]) => {
    const [exact, text, from, to, least, star, most, opened, other] = groups;
    const literal = exact ?? text;
    if (literal !== undefined) return literal.replaceAll(/[+/]/g, '\\$&');
    if (from !== undefined) return to === undefined ? `\\x${from}` : `[\\x${from}-\\x${to}]`;
    if (opened !== undefined) {
      const times = least || star || most ? `{${star ? `${least || 0},${most}` : least}}` : '';
      if (opened !== '(') return `(?:${patternOf(opened)})${times}`;
      closing.push(times);
      return '(?:';
    }
    if (other === ')') return `)${closing.pop()}`;
    return other === '/' ? '|' : '';
  });
  return translated;
}

function bash(commands: string): string {
  return execFileSync('bash', ['-c', commands], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

test('SPEC.md has the header and the label of each version', () => {
  const labels = Object.values(VERSIONS).map(({ label }) => label.replace(/^\d+:/, ''));
  const absent = [...Object.values(PROOF_HEADERS), ...labels].filter((name) => !SPEC.includes(name));
  expect(absent).toEqual([]);
});

test('the openssl commands of README.md verify the worked example of SPEC.md unchanged', () => {
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
])('the openssl commands of README.md fail when %s differs', (_, from, to) => {
  expect(COMMANDS).toContain(from);
  expect(() => bash(COMMANDS.replace(from, to))).toThrow();
});

test('the commands of README.md build the bytes of the worked example', () => {
  const printed = bash(`${COMMANDS}\nprintf '\\n'; cat v1.input; printf '\\n'; cat v2.input`).split('\n');
  for (const input of printed.slice(-2)) expect(SPEC).toContain(` ${input}\n`);
});

test('the key id of the worked example is the thumbprint of its key', () => {
  const [, x, kid] = /^ {4}x {6}(\S+)\n {4}kid {4}(\S+)$/m.exec(SPEC) ?? [];
  expect(thumbprint(Buffer.from(x ?? '', 'base64url'))).toBe(kid);
});

/** Not by fast-check's own unit, which lists every character. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0x10_ffff }))
  .map((points) => String.fromCodePoint(...points));

test.each([
  ['intern-id', isInternId],
  ['timestamp', isTimestamp],
  ['user', isUser],
  ['body-sha256', isBodySha256],
  ['nonce', isNonce],
  ['path', isPath],
  ['signature', (text: string) => base64.decode(text, 64) !== undefined],
])('the alphabet of SPEC.md for %s is the one that the code uses', (field, isInAlphabet) => {
  const pattern = new RegExp(`^(?:${patternOf(field)})$`);
  fc.assert(fc.property(fc.stringMatching(pattern), (text) => isInAlphabet(text)));
  fc.assert(fc.property(anyText, (text) => isInAlphabet(text) === pattern.test(text)));
});

test('the small-order encodings that KEY-SETS.md lists are the 14', () => {
  const listed = [...read('KEY-SETS.md').matchAll(/^ {4}([0-9a-f]{64}) {3}/gm)].flatMap(([, hex = '']) => {
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
    answers_not_kept: 404,
    body_too_large: 413,
    keys_unavailable: 503,
    replay_store_unavailable: 503,
    replay_store_unsafe: 503,
    replay_store_full: 503,
  } satisfies Record<ProofErrorCode | UnavailableErrorCode, number>;
  const listed = [...SPEC.matchAll(/^\| `([a-z_]+)` \| .* \| (\d{3}) \|$/gm)];
  expect(Object.fromEntries(listed.map(([, code, status]) => [code, Number(status)]))).toEqual(statuses);
});

/** Up to the heading that begins so. */
const upTo = (text: string, heading: string): string => text.slice(0, text.indexOf(`\n## ${heading}`));
const words = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;

test('the first page of SPEC.md, and what an author of a verifier must read, stay short', () => {
  expect(words(upTo(SPEC, '3.'))).toBeLessThanOrEqual(600);
  const keySets = read('KEY-SETS.md');
  const stores = read('REPLAY-STORES.md').replace(/\n### For clients.*?(?=\n## )/s, '');
  const mustRead = [upTo(SPEC, '7.'), upTo(keySets, 'Publishing'), stores];
  expect(words(mustRead.join(' '))).toBeLessThanOrEqual(4500);
});

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { thumbprint } from './index.ts';

const SPEC = readFileSync(join(import.meta.dirname, '../SPEC.md'), 'utf8');
const COMMANDS = /```bash\n(.*?)```/s.exec(SPEC)?.[1] ?? '';

function bash(commands: string): string {
  return execFileSync('bash', ['-c', commands], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

test('the openssl commands of SPEC.md verify the worked example as they stand there', () => {
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

test('the bytes that the commands of SPEC.md build are the ones of its worked example', () => {
  const printed = bash(`${COMMANDS}\nprintf '\\n'; cat v1.input; printf '\\n'; cat v2.input`).split('\n');
  for (const input of printed.slice(-2)) expect(SPEC).toContain(` ${input}\n`);
});

test('the key id of the worked example is the thumbprint of its key', () => {
  const [, x, kid] = /^ {4}x {6}(\S+)\n {4}kid {4}(\S+)$/m.exec(SPEC) ?? [];
  expect(thumbprint(Buffer.from(x ?? '', 'base64url'))).toBe(kid);
});

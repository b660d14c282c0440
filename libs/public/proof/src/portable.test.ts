import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/**
 * A runtime without `node:` modules, without the export condition "node" and without Buffer: so the package's own
 * import map selects the engine, and any other use of Node fails.
 */
const BARE_RUNTIME = `
import { registerHooks } from 'node:module';
registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('node:')) throw new Error('no ' + specifier + ' here');
    return next(specifier, { ...context, conditions: context.conditions.filter((name) => name !== 'node' && name !== 'node-addons') });
  },
});
delete globalThis.Buffer;
`;

const WORKED_EXAMPLE = `
const proof = await import('./index.ts');
const { keys: [jwk] } = { keys: [{ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }] };
const [key] = proof.parseJwkSet({ keys: [jwk] });
const body = new TextEncoder().encode('{"prompt":"hello"}');
const digest = proof.createBodyDigest();
digest.update(body);
const input = proof.signingInputV1({ internId: 'int_7Qm2', timestamp: 1789000000, user: 'user_2abc', bodySha256: digest.hex() });
const signature = proof.decodeSignature('PrB6phrL9HxAHbXnGkePuzx0EeZwsIX6IfF1BesasFEm7W9JmHk/2aI0IFOkyHDIaCqMOjP34022pQkecmDrDA==');
console.log(JSON.stringify({
  buffer: typeof globalThis.Buffer,
  kid: key.kid,
  verified: key.verify(input, signature),
  forged: key.verify(input.with(0, 0), signature),
  rendered: proof.renderJwkSet([key]).keys[0].x === jwk.x,
}));
`;

function run(...code: string[]): string {
  return execFileSync(process.execPath, ['--input-type=module', '--eval', code.join('\n')], {
    cwd: join(import.meta.dirname),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

test('verifies the worked example without node:crypto and Buffer', () => {
  expect(JSON.parse(run(BARE_RUNTIME, WORKED_EXAMPLE))).toEqual({
    buffer: 'undefined',
    kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
    verified: true,
    forged: false,
    rendered: true,
  });
});

test('encodes base64 like Buffer without Buffer', () => {
  const script = `
    const { base64, base64url } = await import('./base64.ts');
    const bytes = (length) => Uint8Array.from({ length }, (_, index) => (index * 151 + length * 7) & 255);
    const texts = Array.from({ length: 70 }, (_, length) => [base64.encode(bytes(length)), base64url.encode(bytes(length))]);
    console.log(JSON.stringify({ buffer: typeof globalThis.Buffer, texts }));
  `;
  const bytes = (length: number) =>
    Buffer.from(Array.from({ length }, (_, index) => (index * 151 + length * 7) & 255));
  expect(JSON.parse(run(BARE_RUNTIME, script))).toEqual({
    buffer: 'undefined',
    texts: Array.from({ length: 70 }, (_, length) => [
      bytes(length).toString('base64'),
      bytes(length).toString('base64url'),
    ]),
  });
});

test('the runtime of this test does refuse node:crypto', () => {
  expect(() => run(BARE_RUNTIME, "await import('./signing.ts');")).toThrow(/no node:crypto here/);
});

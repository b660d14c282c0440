import { expect, test } from 'vitest';
import { Written } from '../../../services/signer/src/core/stages/evidence.ts';
import { rawClient } from '../../env/raw-client.ts';
import { expectRefusal } from '../refusal.ts';
import { startSignerWorld, useSignerWorld, V2_BODY } from '../signer-world.ts';
import { head } from '../signing-bytes.ts';

const world = await useSignerWorld({ config: { deadlineMs: 300 } });
const path = `/v1/interns/${world.tenants.internId}/daemon/sign`;
const bearer = `Authorization: Bearer ${await world.issuer.token()}`;
const json = 'Content-Type: application/json';
const ENVELOPE =
  '{"error":{"code":408,"message":"The 300 ms deadline of this route was exceeded.","metadata":{"reason":"timeout","retryable":true}}}';

test.each([
  ['in the body', head(path, bearer, json, 'Content-Length: 100') + V2_BODY.slice(0, 50)],
  ['in a chunked body', `${head(path, bearer, json, 'Transfer-Encoding: chunked')}5\r\n{"bod`],
  ['in the request line', 'POST /v1/in'],
])(
  'a client that stops sending %s is answered at the deadline, and the connection closed',
  async (_, bytes) => {
    const before = await world.turnsUsed();
    using connection = await rawClient(world.url);
    const startedAt = performance.now();
    connection.send(bytes);
    const answer = await connection.untilEnd();
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toMatch(/^x-request-id: /im);
    expect(answer.slice(answer.indexOf('\r\n\r\n') + 4)).toBe(ENVELOPE);
    // Not a speed limit: a response before the deadline would be a different refusal.
    expect(performance.now() - startedAt).toBeGreaterThan(290);
    expect(await world.turnsUsed()).toEqual(before);
  },
);

test('a client that sends one byte at a time does not get more time', async () => {
  using connection = await rawClient(world.url);
  connection.send(head(path, bearer, json, 'Content-Length: 100000'));
  const drip = setInterval(() => connection.send(' '), 20);
  const answer = await connection.untilEnd();
  clearInterval(drip);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
});

test('the deadline applies while a dependency hangs, and no proof is recorded after it', async () => {
  const never = new Promise<never>(() => {});
  const hanging = { draw: () => 'AAECAwQFBgcICQoLDA0ODw', reserve: () => never };
  await using other = await startSignerWorld({
    config: { deadlineMs: 200 },
    parts: { nonces: hanging },
  });
  expectRefusal(await other.sign(), { status: 408, reason: 'timeout', retryable: true });
  expect(await other.auditLines()).toEqual([]);
});

test('a nonce reserved after the deadline is not signed', async () => {
  const reserving = Promise.withResolvers<boolean>();
  const late = { draw: () => 'AAECAwQFBgcICQoLDA0ODw', reserve: () => reserving.promise };
  await using other = await startSignerWorld({
    config: { deadlineMs: 200 },
    parts: { nonces: late },
  });
  // With a DPoP header, the refusal after the deadline would add a nonce to the answer.
  expectRefusal(await other.sign({ headers: { DPoP: 'none' } }), {
    status: 408,
    reason: 'timeout',
    retryable: true,
  });
  reserving.resolve(true);
  await expect
    .poll(async () => (await other.page('/metrics')).text)
    .toContain('signer_refusals_total{reason="timeout"} 1');
  expect(await other.auditLines()).toEqual([]);
});

test('a proof recorded after the deadline is not returned', async () => {
  const written = Promise.withResolvers<void>();
  const audit = {
    append: async (line: string) => {
      await written.promise;
      return new Written(line);
    },
    reopen: async () => {},
    check: async () => {},
    close: async () => {},
  };
  await using other = await startSignerWorld({ config: { deadlineMs: 200 }, parts: { audit } });
  expectRefusal(await other.sign(), { status: 408, reason: 'timeout', retryable: true });
  written.resolve();
  const metrics = async () => (await other.page('/metrics')).text;
  await expect.poll(metrics).toContain('signer_refusals_total{reason="timeout"} 1');
  expect(await metrics()).toContain('signer_proofs_issued_total{version="v2",bound="false"} 0');
  await expect.poll(() => other.turnsUsed()).toEqual({ user: 0, organization: 0 });
});

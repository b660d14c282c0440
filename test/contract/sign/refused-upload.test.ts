import { expect, test } from 'vitest';
import { rawClient } from '../../env/raw-client.ts';
import { expectRefusal } from '../refusal.ts';
import { startSignerWorld, useSignerWorld, V2_BODY } from '../signer-world.ts';
import { head, reasonIn } from '../signing-bytes.ts';

const world = await useSignerWorld();
const { issuer, tenants } = world;
const path = `/v1/interns/${tenants.internId}/daemon/sign`;
const token = `Authorization: Bearer ${await issuer.token()}`;
const json = 'Content-Type: application/json';
const GIB = 1_073_741_824;

const uploads: [string, number, string | undefined, string[]][] = [
  ['without a bearer', 401, undefined, [json]],
  ['with an unknown bearer', 401, undefined, ['Authorization: Bearer x', json]],
  ['with an API key', 403, 'personal_identity_required', [`Authorization: Bearer ${tenants.apiKey}`, json]],
  ['of another media type', 415, 'unsupported_media_type', [token, 'Content-Type: text/plain']],
  ['that is too large', 413, 'payload_too_large', [token, json]],
];

test('a client that sends Expect gets 100 Continue once its credential and headers are accepted', async () => {
  using connection = await rawClient(world.url);
  connection.send(head(path, token, json, `Content-Length: ${V2_BODY.length}`, 'Expect: 100-continue'));
  await connection.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  connection.send(V2_BODY);
  expect(await connection.until(/\r\n\r\n\{.*\}$/s)).toMatch(/HTTP\/1\.1 200 /);
});

// libs/internal/http tests how little is read of a refused body.
test.each(uploads)(
  'an upload of 1 GiB %s is refused without 100 Continue',
  async (_, status, reason, lines) => {
    using connection = await rawClient(world.url);
    connection.send(head(path, ...lines, `Content-Length: ${GIB}`, 'Expect: 100-continue'));
    const answer = await connection.untilEnd();
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/^connection: close/im);
    expect(reasonIn(answer)).toBe(reason);
  },
);

test('an account with too many requests in progress gets 429, and the log names it and the intern that is known', async () => {
  await using busy = await startSignerWorld({
    environment: { REQUESTS_IN_FLIGHT_PER_ACCOUNT_MAX: '1', TURNS_PER_USER: '1' },
  });
  using connection = await rawClient(busy.url);
  const limited = { status: 429, reason: 'rate_limited', retryable: true };
  const own = `/v1/interns/${busy.tenants.internId}/daemon/sign`;
  const bearer = `Authorization: Bearer ${await busy.issuer.token()}`;
  connection.send(head(own, bearer, json, `Content-Length: ${V2_BODY.length}`, 'Expect: 100-continue'));
  await connection.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  expectRefusal(await busy.sign(), limited);
  connection.send(V2_BODY);
  await connection.until(/\r\n\r\n\{.*\}$/s);
  expectRefusal(await busy.sign(), limited);
  const refusals = () =>
    busy.signer.output.filter((line) => line.includes('rate_limited')).map((line) => JSON.parse(line));
  await expect.poll(refusals).toHaveLength(2);
  const known = { reason: 'rate_limited', subject: 'ada', internId: busy.tenants.internId };
  expect(refusals()).toMatchObject([{ reason: 'rate_limited', subject: 'ada' }, known]);
});

import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addMember } from '@ori/administration/members';
import { addSubject, createUser } from '@ori/administration/users';
import { turnKey } from '@ori/turns/limiter';
import { afterAll, expect, test } from 'vitest';
import { startIssuer } from '../../env/issuer.ts';
import { expectRefusal } from '../refusal.ts';
import { freshId, startSignerWorld } from '../signer-world.ts';

const audience = 'api://ori';
const [former, next] = await Promise.all([startIssuer({ audience }), startIssuer({ audience })]);
const file = join(tmpdir(), `${freshId('issuers')}.json`);
const introspection = (issuer: typeof next, tokenPrefix: string) => {
  const { id: clientId, secret: clientSecret } = issuer.introspectionClient;
  return { clientId, clientSecret, tokenPrefix };
};
writeFileSync(
  file,
  JSON.stringify({
    issuers: [
      { issuer: former.url, audience, introspection: introspection(former, 'former_') },
      {
        issuer: next.url,
        audience,
        clients: ['0oa1'],
        tokenTypes: ['JWT'],
        claims: { subject: 'uid', client: 'cid', scope: 'scp' },
        scopes: { 'vault:read': 'api://ori/vault.read' },
        signIn: { resource: false, consent: false, redirectPort: 8484 },
      },
    ],
  }),
  { mode: 0o600 },
);
const world = await startSignerWorld({
  environment: {
    ISSUER: '',
    ISSUERS_FILE: file,
    INTROSPECTION_CLIENT_ID: '',
    INTROSPECTION_CLIENT_SECRET: '',
  },
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await Promise.all([former, next].map((issuer) => issuer[Symbol.asyncDispose]()));
});
const { store, tenants } = world;
const refused = { status: 401 };

/** As the second issuer makes them: `typ: JWT`, and claims of its own names. */
const nextToken = (uid: string, claims: Record<string, unknown> = {}) =>
  next.token({
    header: { typ: 'JWT' },
    claims: {
      sub: 'other',
      uid,
      cid: '0oa1',
      client_id: undefined,
      scope: undefined,
      scp: ['openid', 'api://ori/vault.read'],
      ...claims,
    },
  });

async function person(...subjects: [issuer: string, subject: string][]): Promise<string> {
  const { id: userId } = await createUser(store, { id: freshId('user'), name: 'Ada' });
  for (const [issuer, subject] of subjects) await addSubject(store, { userId, issuer, subject });
  await addMember(store, { workspaceId: tenants.workspaceId, userId });
  return userId;
}

test('a client learns what each issuer needs at a sign-in', async () => {
  const answer = await world.request({ path: '/.well-known/oauth-protected-resource/v1' });
  expect(answer.json()).toMatchObject({
    authorization_servers: [former.url, next.url],
    'x-ori_sign_in': [
      { issuer: former.url, client_id: 'ori-cli', scopes: ['vault:read', 'interns'], resource: true },
      {
        issuer: next.url,
        client_id: '0oa1',
        scopes: ['api://ori/vault.read', 'interns'],
        resource: false,
        consent: false,
        redirect_port: 8484,
      },
    ],
  });
});

test('a person with a subject at each of two issuers signs with either, and is charged as one', async () => {
  const [one, two] = [freshId('sub'), freshId('sub')];
  const userId = await person([former.url, one], [next.url, two]);
  const first = await world.sign({ bearer: await former.token({ subject: one }) });
  expect(first.json()).toMatchObject({ 'x-ori-invoke-user': one });
  const second = await world.sign({ bearer: await nextToken(two) });
  expect(second.json()).toMatchObject({ 'x-ori-invoke-user': two });
  expect(await world.redis.get(turnKey('user', userId))).toBe('2');
});

test('two people cannot have the same subject at two issuers, because a proof does not name the issuer', async () => {
  const subject = freshId('sub');
  await person([former.url, subject]);
  await expect(person([next.url, subject])).rejects.toMatchObject({ code: 'conflict' });
});

test('a subject counts only at its own issuer', async () => {
  const subject = freshId('sub');
  await person([former.url, subject]);
  expectRefusal(await world.sign({ bearer: await nextToken(subject) }), { status: 404, reason: 'not_found' });
});

test('a token is judged by the settings of the issuer that it names, under the keys of that one', async () => {
  const subject = freshId('sub');
  await person([former.url, subject], [next.url, subject]);
  const bearer = await former.token({
    subject,
    header: { typ: 'JWT' },
    claims: { uid: subject, cid: '0oa1' },
  });
  expectRefusal(await world.sign({ bearer }), refused);
  const crossed = await next.token({ subject, claims: { iss: former.url } });
  expectRefusal(await world.sign({ bearer: crossed }), refused);
  const unknown = await former.token({ subject, claims: { iss: 'https://elsewhere.test' } });
  expectRefusal(await world.sign({ bearer: unknown }), refused);
  const idToken = await nextToken(subject, { nonce: 'n' });
  expectRefusal(await world.sign({ bearer: idToken }), refused);
});

test('an opaque token is shown only to the issuer whose prefix it has', async () => {
  former.resetCounts();
  next.resetCounts();
  expectRefusal(await world.sign({ bearer: 'x'.repeat(40) }), refused);
  expectRefusal(await world.sign({ bearer: `former_${'x'.repeat(40)}` }), refused);
  expect(former.counts.introspection).toBe(1);
  expect(next.counts.introspection).toBe(0);
});

test('with one issuer away, the people of the other sign, and the signer stays ready', async () => {
  const subject = freshId('sub');
  await person([next.url, subject]);
  await former.stop();
  expect((await world.sign({ bearer: await nextToken(subject) })).status).toBe(200);
  expect((await world.page('/readyz')).status).toBe(200);
  await former.start();
});

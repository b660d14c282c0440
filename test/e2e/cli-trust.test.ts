import { chmod, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../env/ports.ts';
import { runOri } from './cli-in-process.ts';
import type { OriHome } from './cli-process.ts';
import {
  type Attempt,
  type Change,
  FIRST,
  SECOND,
  startTrustWorld,
  type TrustWorld,
  trustFileOf,
} from './trust-world.ts';

let world: TrustWorld;
let port: number;
beforeAll(async () => {
  port = await freePort();
  world = await startTrustWorld();
});
afterAll(() => world[Symbol.asyncDispose]());
afterEach(() => {
  world.document = (document) => document;
  world.interns = (list) => list;
  world.requests.length = 0;
  world.issuer.tokenMembers = { token_type: 'DPoP' };
});

/** Members of the API's document: the value that a server in between puts in its place, or undefined to leave it out. */
const with_ =
  (member: string, value: unknown): Change =>
  (document) => ({ ...document, [member]: value });
const withSignIn =
  (member: string, value: unknown): Change =>
  (document) => {
    const [signIn] = document['x-ori_sign_in'] as Record<string, unknown>[];
    return { ...document, 'x-ori_sign_in': [{ ...signIn, [member]: value }] };
  };
const other = () => world.otherIssuer.url;

const USUAL = 'as usual';
const DIFFERS = 'sign_in_differs';
/** A narrower request than the person's: it loses nothing but what the gateway can withhold anyway. */
const LESS = 'asks for less';

/**
 * What each change of the document does: at the first sign-in of a profile, at a later one, and to `ori mcp` when the
 * session is gone; one outcome is that of all three. Nothing but "as usual" and "asks for less" goes on without the
 * person's flag, except that the first sign-in shows an issuer that nobody knew before.
 */
type Row = [what: string, change: () => Change, first: string, later?: string, mcp?: string];
const DOCUMENT: readonly Row[] = [
  ['resource changed', () => with_('resource', 'https://a.example/v1'), 'resource_mismatch'],
  // RFC 9728, section 3.3: identical. It would be sent as it is.
  ['resource with a slash', () => with_('resource', `${world.baseUrl}/`), 'resource_mismatch'],
  ['resource with dots', () => with_('resource', world.baseUrl.replace('/v1', '/./v1')), 'resource_mismatch'],
  [
    'authorization_servers changed',
    () => with_('authorization_servers', [other()]),
    'another issuer, shown',
    DIFFERS,
    DIFFERS,
  ],
  [
    'authorization_servers added',
    () => (document) =>
      with_('authorization_servers', [other(), ...(document['authorization_servers'] as string[])])(document),
    'issuer_not_chosen',
    USUAL,
    USUAL,
  ],
  ['scopes_supported changed', () => with_('scopes_supported', ['interns']), USUAL],
  ['scopes_supported removed', () => with_('scopes_supported', undefined), USUAL],
  ['algorithms removed', () => with_('dpop_signing_alg_values_supported', undefined), USUAL],
  ['no bound session required', () => with_('dpop_bound_access_tokens_required', false), USUAL],
  ['x-ori_sign_in removed', () => with_('x-ori_sign_in', undefined), USUAL],
  ['x-ori_sign_in issuer changed', () => withSignIn('issuer', other()), USUAL],
  ['x-ori_sign_in client_id changed', () => withSignIn('client_id', 'wiki'), DIFFERS],
  ['x-ori_sign_in client_id removed', () => withSignIn('client_id', undefined), USUAL],
  ['x-ori_sign_in scopes changed', () => withSignIn('scopes', ['files:write']), DIFFERS],
  ['x-ori_sign_in scopes added', () => withSignIn('scopes', ['vault:read', 'files:write']), DIFFERS],
  ['x-ori_sign_in scopes without one', () => withSignIn('scopes', []), LESS],
  ['x-ori_sign_in scopes removed', () => withSignIn('scopes', undefined), USUAL],
  ['x-ori_sign_in resource changed', () => withSignIn('resource', false), DIFFERS],
  ['x-ori_sign_in resource removed', () => withSignIn('resource', undefined), USUAL],
  ['x-ori_sign_in redirect_port added', () => withSignIn('redirect_port', port), USUAL],
];

/** Whether the sign-in asked for what an honest one asks for, or less. */
function judge({ outcome, asked, shown }: Attempt): string {
  if (outcome !== 'signed in') return outcome;
  const usual = { client_id: 'ori-cli', resource: world.baseUrl };
  if (asked !== undefined) expect(asked).toMatchObject(usual);
  const scopes = asked?.['scope']?.split(' ') ?? [];
  const ours = ['openid', 'offline_access', 'vault:read', 'interns'];
  expect(scopes.filter((scope) => !ours.includes(scope))).toEqual([]);
  if (shown.includes(world.otherIssuer.url)) return 'another issuer, shown';
  return scopes.includes('vault:read') ? USUAL : LESS;
}

async function trustedBy(home: OriHome): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(trustFileOf(home), 'utf8'))[world.baseUrl].signIn;
}

async function expectBound(home: OriHome): Promise<void> {
  const { stdout } = await runOri(home, ['whoami', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ bound: true });
}

describe('what a server in between makes of the document of the API', () => {
  it.each(DOCUMENT)('%s', async (_what, change, first, later = first, mcp = first) => {
    await using stranger = await world.newHome();
    await using home = await world.newHome();
    expect((await world.login(home)).outcome).toBe('signed in');
    const before = await trustedBy(home);
    world.document = change();
    const attempts = [await world.login(stranger), await world.login(home), await world.mcp(home)];
    expect(attempts.map(judge)).toEqual([first, later, mcp]);
    for (const [by, attempt] of [
      [stranger, attempts[0]],
      [home, attempts[2]],
    ] as const)
      if (attempt?.outcome === 'signed in') await expectBound(by);
      else expect(attempt?.asked).toBeUndefined();
    // What a first sign-in may ask for, a later one may.
    const { scope: _scope, ...others } = await trustedBy(home);
    expect(before).toMatchObject(others);
    if (later === DIFFERS) expect(await trustedBy(home)).toEqual(before);
  });
});

it('is a first sign-in only where the person sees it, not in ori mcp', async () => {
  await using home = await world.newHome();
  const bridge = await world.mcp(home);
  expect(bridge).toMatchObject({ outcome: 'not_signed_in' });
  expect(bridge.shown).not.toContain('Signing in');
  const { shown } = await world.login(home);
  expect(shown).toContain(
    `Issuer ${world.issuer.url}, client ori-cli, scopes openid offline_access vault:read`,
  );
});

it('accepts other terms with --trust, names them, and keeps them', async () => {
  await using home = await world.newHome();
  world.document = withSignIn('scopes', ['api://ori/vault:read']);
  const refused = await world.login(home);
  expect(refused.shown).toContain('scopes: openid offline_access api://ori/vault:read instead of');
  expect(refused.shown).toContain('ori login --trust');
  expect((await world.login(home, '--trust')).outcome).toBe('signed in');
  expect((await world.login(home)).outcome).toBe('signed in');
});

it('accepts with --trust exactly what was shown, and not what a server in between says next', async () => {
  await using home = await world.newHome();
  expect((await world.login(home, '--trust')).outcome).toBe('signed in');
  world.document = withSignIn('scopes', ['files:read']);
  expect((await world.login(home, '--trust')).outcome).toBe(DIFFERS);
  world.document = withSignIn('scopes', ['files:write']);
  const next = await world.login(home, '--trust');
  expect([next.outcome, next.asked]).toEqual([DIFFERS, undefined]);
  expect(next.shown).toContain('scopes: openid offline_access files:write instead of');
  expect((await world.login(home, '--trust')).outcome).toBe('signed in');
});

it('does not take ori mcp, which nobody watches, for having shown anything', async () => {
  await using home = await world.newHome();
  await world.login(home);
  world.document = withSignIn('client_id', 'wiki');
  expect((await world.mcp(home)).outcome).toBe(DIFFERS);
  expect((await world.login(home, '--trust')).outcome).toBe(DIFFERS);
});

it('takes what is usual after a first sign-in that a server in between has narrowed', async () => {
  await using home = await world.newHome();
  world.document = withSignIn('scopes', []);
  expect(judge(await world.login(home))).toBe(LESS);
  world.document = (document) => document;
  expect(judge(await world.login(home))).toBe(USUAL);
});

it.each(['../../v1/keys', 'int_first?x=', 'int_first\nX: y', 'a/b#c', ''])(
  'sends nothing to an intern whose id in the list is %j, and keeps nothing of it',
  async (id) => {
    await using home = await world.newHome();
    await world.login(home);
    const before = await readFile(trustFileOf(home), 'utf8');
    world.interns = (list) => ({ ...list, data: [{ ...(list['data'] as object[])[0], id }] });
    const refused = await runOri(home, ['sign', 'first', '--path', '/', '--data', '', '--json']);
    expect(refused).toMatchObject({ exit: 6, stderr: expect.stringContaining('answer_not_understood') });
    expect(world.requests.map(({ method }) => method)).toEqual(['GET']);
    expect(await readFile(trustFileOf(home), 'utf8')).toBe(before);
  },
);

it('prints no client name of a megabyte, and a list of any length', async () => {
  await using home = await world.newHome();
  world.document = withSignIn('client_id', 'x'.repeat(1_000_000));
  const long = await world.login(home);
  expect(long.outcome).toContain('is not RFC 9728 metadata');
  expect(long.shown.length).toBeLessThan(1000);
  world.document = (document) => document;
  await world.login(home);
  world.interns = (list) => {
    const [first] = list['data'] as object[];
    return {
      ...list,
      data: Array.from({ length: 75_000 }, (_, index) => ({ ...first, id: `int_${index}` })),
    };
  };
  const listed = await runOri(home, ['interns', 'list']);
  expect([listed.exit, listed.stdout.split('\n').length]).toEqual([0, 75_002]);
});

describe('a token for another address', () => {
  const tokenFor = (...aud: string[]) =>
    ['{"alg":"none"}', JSON.stringify({ aud }), 'x'].map((part) => btoa(part).replace(/=+$/, '')).join('.');

  it('is not sent, and its sign-in not kept, unless the person accepts it', async () => {
    await using home = await world.newHome();
    world.issuer.tokenMembers = {
      token_type: 'DPoP',
      access_token: tokenFor('https://a.example/v1', world.baseUrl),
    };
    const refused = await world.login(home);
    expect(refused.outcome).toBe('sign_in_differs');
    expect(world.requests).toEqual([]);
    expect((await world.login(home, '--trust')).outcome).toBe('signed in');
  });

  it('ends a session that gets it at a renewal', async () => {
    await using home = await world.newHome();
    const mine = { token_type: 'DPoP', access_token: tokenFor(world.baseUrl, world.issuer.url) };
    world.issuer.tokenMembers = mine;
    expect((await world.login(home)).outcome).toBe('signed in');
    await home.changeSession({ expires_at: 1 });
    world.issuer.tokenMembers = { ...mine, access_token: tokenFor('https://a.example/v1') };
    const ended = await runOri(home, ['api', '/interns']);
    expect(ended).toMatchObject({ exit: 3, stderr: expect.stringContaining('https://a.example/v1') });
    expect(world.requests).toEqual([]);
  });
});

it('ends a session that the issuer no longer binds', async () => {
  await using home = await world.newHome();
  await world.login(home);
  await home.changeSession({ expires_at: 1 });
  world.issuer.tokenMembers = {};
  expect(await runOri(home, ['api', '/interns'])).toMatchObject({ exit: 3 });
  expect(world.requests).toEqual([]);
});

describe('what a server in between makes of the list of interns', () => {
  type Listed = Record<string, unknown>;
  const eachOf =
    (change: (intern: Listed, others: readonly Listed[]) => Listed): Change =>
    (list) => {
      const data = list['data'] as Listed[];
      return {
        ...list,
        data: data.map((one) =>
          change(
            one,
            data.filter((two) => two !== one),
          ),
        ),
      };
    };
  const LIST: readonly (readonly [string, Change])[] = [
    ['ids exchanged', eachOf((one, [two]) => ({ ...one, id: two?.['id'] }))],
    ['hostnames changed', eachOf((one) => ({ ...one, hostname: 'evil.test' }))],
    ['hostnames removed', eachOf((one) => ({ ...one, hostname: null }))],
    ['interns removed', (list) => ({ ...list, data: [] })],
    [
      'an intern added',
      (list) => ({
        ...list,
        data: [{ ...(list['data'] as Listed[])[1], name: 'first' }, ...(list['data'] as Listed[])],
      }),
    ],
  ];
  const daemon = async (home: OriHome, name: string) => {
    const { stdout, stderr } = await runOri(home, ['profiles', 'daemon', name, '--json']);
    return { target: stdout === '' ? undefined : JSON.parse(stdout), stderr };
  };

  it.each(LIST)(
    '%s: nothing for an intern that the profile knows, and it is shown otherwise',
    async (_what, change) => {
      await using home = await world.newHome();
      await world.login(home);
      const { target, stderr } = await daemon(home, 'first');
      expect(target).toEqual({ intern: FIRST, daemon: 'https://first.test' });
      expect(stderr).toContain(`this profile uses ${FIRST} for first`);
      world.interns = change;
      expect((await daemon(home, 'first')).target).toEqual(target);
      const unknown = await daemon(home, 'second');
      if (unknown.target !== undefined) {
        expect(unknown.stderr).toContain(`this profile uses ${unknown.target.intern} for second`);
        if (unknown.target.daemon !== target.daemon)
          expect(unknown.stderr).toContain(`this profile uses ${unknown.target.daemon} for`);
      }
    },
  );

  it('says when a name is another intern now, and takes it after --unset', async () => {
    await using home = await world.newHome();
    await world.login(home);
    await daemon(home, 'first');
    world.interns = eachOf((one, [two]) => ({ ...one, id: two?.['id'] }));
    world.answer = { status: 404, body: { error: { code: 404, message: 'Not found.' } } };
    const refused = await runOri(home, ['sign', 'first', '--path', '/', '--data', '', '--json']);
    expect(refused.stderr).toContain('"code":"intern_changed"');
    expect(world.requests.filter(({ method }) => method === 'POST').map(({ url }) => url)).toEqual([
      `/v1/interns/${FIRST}/daemon/sign`,
    ]);
    expect((await runOri(home, ['interns', 'list'])).stderr).toContain(`first is ${FIRST} for this profile`);
    expect(await runOri(home, ['profiles', 'daemon', 'first', '--unset'])).toMatchObject({ exit: 0 });
    expect((await daemon(home, 'first')).target.intern).toBe(SECOND);
  });
});

it('uses no damaged trust file, because everything would be trusted anew', async () => {
  await using home = await world.newHome();
  await world.login(home);
  for (const text of ['', '{', '7', '{"a":{}}', '{"a":{"interns":{},"daemons":{},"signIn":{}}}']) {
    await writeFile(trustFileOf(home), text);
    expect(await runOri(home, ['login', '--no-browser']), text).toMatchObject({ exit: 2, stdout: '' });
    expect(await runOri(home, ['sign', 'first', '--path', '/', '--data', '']), text).toMatchObject({
      exit: 2,
    });
  }
});

it('says what to do about a trust file that others can access, or that is a link', async () => {
  await using home = await world.newHome();
  await world.login(home);
  const file = trustFileOf(home);
  await chmod(file, 0o640);
  const exposed = await runOri(home, ['login', '--no-browser']);
  expect(exposed).toMatchObject({ exit: 3, stderr: expect.stringContaining(`chmod go= ${file}`) });
  await chmod(file, 0o600);
  await rename(file, `${file}.moved`);
  await symlink(`${file}.moved`, file);
  const link = await runOri(home, ['login', '--no-browser', '--json']);
  expect(link).toMatchObject({ exit: 2, stderr: expect.stringContaining('"trust_damaged"') });
});

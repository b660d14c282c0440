import { setTimeout as pause } from 'node:timers/promises';
import { explainFailure } from '@ori/http/explain-failure';
import { readBearer } from '@ori/identity/bearer';
import { openIdentity } from '@ori/identity/open-identity';
import { lookAtToken } from '../../../services/ori-admin/src/doctor/issuers.ts';
import { loadIdentity } from '../../../services/ori-admin/src/doctor/settings.ts';
import { runOri, startOri } from '../../e2e/cli-in-process.ts';
import type { Browser } from '../../e2e/foreign-visit.ts';
import { issuersFile, startProviderWorld } from '../../e2e/provider-world.ts';
import { freePort } from '../../env/ports.ts';
import type { Started } from './launch.ts';

/** What a person meets at a provider; `why` is what `ori` says of the first thing that does not work. */
export interface Observed {
  readonly signsIn: boolean;
  readonly bound?: boolean;
  readonly calls?: boolean;
  /** Undefined if the provider gives no refresh token. */
  readonly renews?: boolean;
  readonly refreshTokenRefused?: boolean;
  readonly revoked?: boolean;
  /** The time of the sign-in in the access token, and in the renewed one. */
  readonly authTime?: 'stays' | 'moves' | 'dropped' | 'none';
  /** Whether a person with a session is asked for the password again (`max_age=0`, `prompt=login`). */
  readonly asksAgain?: boolean | undefined;
  readonly why?: string;
}

/** How often its documents are asked for, once a second. */
const READY_TURNS = 15;

/** Signs in at a provider with `ori`, calls a daemon, renews, signs in anew, and signs out. */
export async function observe(start: (baseUrl: string) => Promise<Started>): Promise<Observed> {
  await using stack = new AsyncDisposableStack();
  const port = await freePort();
  const provider = stack.use(await start(`http://127.0.0.1:${port}/v1`));
  const file = await issuersFile(stack, provider);
  const judging = loadIdentity('SIGNER', {
    SIGNER_ISSUERS_FILE: file,
    SIGNER_BASE_URL: `http://127.0.0.1:${port}/v1`,
  });
  const identity = openIdentity<never>(judging, { apiKey: () => ({}), now: Date.now });
  stack.defer(() => identity.close());
  // A signer does not become ready without it.
  let unusable: string | undefined;
  for (let turn = 0; turn < READY_TURNS; turn++) {
    unusable =
      (await identity.check().catch((error: unknown) => explainFailure(error) ?? String(error))) ?? undefined;
    if (unusable === undefined) break;
    await pause(1100);
  }
  if (unusable !== undefined) return { signsIn: false, why: unusable };
  const { world, home } = await startProviderWorld(stack, { ...provider, port, file });
  const { demo, sign } = world;
  const browser: Browser = { cookies: new Map(), filled: 0 };

  const failures: string[] = [];
  const isDone = ({ exit, stderr }: { exit: number | null; stderr: string }): boolean => {
    if (exit !== 0) failures.push(/^ori: (.*)$/m.exec(stderr)?.[1] ?? `exit ${exit}`);
    return exit === 0;
  };
  const why = () => (failures[0] === undefined ? {} : { why: failures[0] });
  const call = async () => {
    const called = await runOri(home, ['call', demo.internId, '/api/invoke', '--data', '{}']);
    if (called.exit !== 0) {
      const { access_token: token } = await home.session();
      const refused = await lookAtToken(judging, String(token)).then(() => undefined, String);
      if (refused !== undefined) failures.push(refused);
    }
    return isDone(called) && called.stdout.trim() === JSON.stringify({ user: provider.subject });
  };
  const signInOnce = async (options: readonly string[]) => {
    const login = startOri(home, ['login', '--no-browser', '--trust', '--timeout', '60', ...options]);
    const visited = login.told(/sign in:\n {2}(\S+)\n/).then(async ([, url = '']) => {
      await fetch(await provider.visit(new URL(url), browser));
    });
    const lost = await Promise.race([
      login.result.then(() => undefined),
      visited.then(() => undefined, String),
    ]);
    return lost === undefined ? login.result : { exit: 1, stderr: `ori: ${lost}` };
  };
  /** What it shows the first time, `--trust` takes the next time. */
  const signIn = async (...options: string[]) => {
    const first = await signInOnce(options);
    const isShown = first.stderr.includes('not what this profile trusts');
    return isDone(isShown ? await signInOnce(options) : first);
  };
  const identify = async (token: string) => identity.identify(readBearer([`Bearer ${token}`]), 'lab');
  const authTime = async (token: string): Promise<number | undefined> => {
    const found = await identify(token).catch(() => undefined);
    return found !== undefined && 'token' in found ? found.token.authenticatedAt : undefined;
  };

  if (!(await signIn())) return { signsIn: false, ...why() };
  const { key_thumbprint, refresh_token, access_token } = await home.session();
  const calls = await call();
  const before = await authTime(String(access_token));
  const shown = { signsIn: true, bound: key_thumbprint !== undefined, calls } as const;
  const asksAgain = async () => {
    const { filled } = browser;
    if (filled === 0) return undefined;
    return (await signInOnce(['--fresh'])).exit === 0 && browser.filled > filled;
  };
  if (!refresh_token) {
    return {
      ...shown,
      authTime: before === undefined ? 'none' : 'stays',
      asksAgain: await asksAgain(),
      ...why(),
    };
  }
  await pause(1100);
  await home.changeSession({ expires_at: 1 });
  const renews = await call();
  const renewed = await home.session();
  const after = await authTime(String(renewed.access_token));
  const moved = after === undefined ? 'dropped' : after === before ? 'stays' : 'moves';
  const refused = (await sign({ bearer: String(renewed.refresh_token) })).status === 401;
  return {
    ...shown,
    renews,
    ...(calls && { refreshTokenRefused: refused }),
    authTime: before === undefined ? 'none' : moved,
    ...(calls && { asksAgain: await asksAgain() }),
    revoked: isDone(await runOri(home, ['logout'])),
    ...why(),
  };
}

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { addSubject } from '@ori/administration/users';
import { createRemoteKeySet, createVerifier } from '@ori/verifier';
import { requireProof } from '@ori/verifier/node';
import { createTestReplayStore } from '@ori/verifier/testing';
import { runOri, startOri } from '../../e2e/cli-in-process.ts';
import { makeOriHome } from '../../e2e/cli-process.ts';
import { listen, send } from '../../e2e/cli-world.ts';
import type { ForeignProvider } from '../../e2e/foreign-providers.ts';
import { freePort } from '../../env/ports.ts';
import { openRoom } from '../../env/room.ts';
import { startWorld } from '../../env/world.ts';

export type Started = Pick<ForeignProvider, 'issuer' | 'settings' | 'subject' | 'visit'> & AsyncDisposable;

/** What a person meets at a provider; `why` is what `ori` says of the first thing that does not work. */
export interface Observed {
  readonly signsIn: boolean;
  readonly bound?: boolean;
  readonly calls?: boolean;
  /** Undefined if the provider gives no refresh token. */
  readonly renews?: boolean;
  readonly refreshTokenRefused?: boolean;
  readonly revoked?: boolean;
  readonly why?: string;
}

/** Signs in at a provider with `ori`, calls a daemon, renews, and signs out. */
export async function observe(start: (baseUrl: string) => Promise<Started>): Promise<Observed> {
  await using stack = new AsyncDisposableStack();
  const port = await freePort();
  const provider = stack.use(await start(`http://127.0.0.1:${port}/v1`));
  const { issuer, settings, subject } = provider;
  const room = stack.use(await openRoom('ori-provider'));
  const file = join(room.directory, 'issuers.json');
  await writeFile(file, JSON.stringify({ issuers: [{ issuer, ...settings }] }), { mode: 0o600 });
  const introspection = { INTROSPECTION_CLIENT_ID: '', INTROSPECTION_CLIENT_SECRET: '' };
  const environment = { ISSUER: '', ISSUERS_FILE: file, ...introspection };
  const { demo, store, baseUrl, sign } = stack.use(await startWorld({ port, environment }));
  await addSubject(store, { userId: demo.userId, issuer, subject });
  const verifier = createVerifier({
    internId: demo.internId,
    keys: createRemoteKeySet(`${baseUrl}/interns/${demo.internId}/daemon/jwks.json`),
    replay: createTestReplayStore(),
  });
  const daemon = await listen(
    requireProof(verifier, { bodyBytesMax: 1024 }, (_req, res, { proof }) =>
      send(res, { status: 200, body: { user: proof.user } }),
    ),
  );
  stack.defer(() => daemon.stop());
  const home = stack.use(await makeOriHome({ ORI_BASE_URL: baseUrl, ORI_DAEMON_URL: daemon.url }));

  const failures: string[] = [];
  const isDone = ({ exit, stderr }: { exit: number | null; stderr: string }): boolean => {
    if (exit !== 0) failures.push(/^ori: (.*)$/m.exec(stderr)?.[1] ?? `exit ${exit}`);
    return exit === 0;
  };
  const call = async () => {
    const called = await runOri(home, ['call', demo.internId, '/api/invoke', '--data', '{}']);
    return isDone(called) && called.stdout.trim() === JSON.stringify({ user: subject });
  };
  const why = () => (failures[0] === undefined ? {} : { why: failures[0] });

  const login = startOri(home, ['login', '--no-browser', '--trust', '--timeout', '60']);
  const visited = login.told(/sign in:\n {2}(\S+)\n/).then(async ([, url = '']) => {
    const redirect = await provider.visit(new URL(url));
    await fetch(redirect);
  });
  const lost = await Promise.race([
    login.result.then(() => undefined),
    visited.then(() => undefined, String),
  ]);
  if (lost !== undefined) return { signsIn: false, why: lost };
  if (!isDone(await login.result)) return { signsIn: false, ...why() };
  const { key_thumbprint, refresh_token } = (await home.session()) as Record<string, string | null>;
  const bound = key_thumbprint !== undefined;
  const calls = await call();
  if (!refresh_token) {
    const revoked = isDone(await runOri(home, ['logout']));
    return { signsIn: true, bound, calls, revoked, ...why() };
  }
  const refreshTokenRefused = (await sign({ bearer: refresh_token })).status === 401;
  await home.changeSession({ expires_at: 1 });
  const renews = await call();
  const revoked = isDone(await runOri(home, ['logout']));
  return { signsIn: true, bound, calls, renews, refreshTokenRefused, revoked, ...why() };
}

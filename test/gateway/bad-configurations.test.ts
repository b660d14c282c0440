import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, NGINX, startDaemonGateway } from '../env/gateway.ts';
import { askRaw, requestBytes } from './ask-raw.ts';
import { type Arrival, type JudgingDaemon, startJudgingDaemon } from './judging-daemon.ts';
import { isSignable, PATH_FORMS } from './path-forms.ts';

const FOLDER = join(import.meta.dirname, 'bad');
const CONFIGURATIONS = readdirSync(FOLDER).filter((name) => name.endsWith('.conf'));
const BODY = '{"prompt":"hello"}';
const BODY_SHA256 = createHash('sha256').update(BODY).digest('hex');

/** These do not change what a proof covers. Separate tests below cover them. */
const KEEPING_SIGNED = new Set(['mirrored.conf', 'sent-again.conf', 'header-alias.conf']);

/** Signs a call like any other and sends it. */
async function call(gateway: Gateway, daemon: JudgingDaemon, path: string, headers: [string, string][] = []) {
  const proof = Object.entries(daemon.signer.sign({ path, body: BODY }));
  const all = [...headers, ...proof, ['Content-Type', 'application/json'] as const];
  await askRaw(gateway.port, requestBytes(`POST ${path} HTTP/1.1`, all, BODY));
  return daemon.takeArrivals();
}

function isChanged(arrival: Arrival, path: string): boolean {
  const { method, target, bodySha256 } = arrival;
  return method !== 'POST' || target !== path || bodySha256 !== BODY_SHA256;
}

describe.skipIf(NGINX === undefined)('a gateway that changes what was signed', () => {
  let daemon: JudgingDaemon;
  beforeAll(async () => {
    daemon = await startJudgingDaemon();
  });
  afterAll(() => daemon?.[Symbol.asyncDispose]());

  it('has more than 8 constructs', () => {
    expect(CONFIGURATIONS.length - KEEPING_SIGNED.size).toBeGreaterThanOrEqual(8);
  });

  it.each(CONFIGURATIONS)('never gets a changed request accepted: %s', async (name) => {
    await using gateway = await startDaemonGateway({
      daemons: [daemon.address],
      configuration: join(FOLDER, name),
    });
    const paths = PATH_FORMS.map(({ target }) => target).filter(isSignable);
    let refused = 0;
    for (const path of paths) {
      const accepted = (await call(gateway, daemon, path)).filter(({ verdict }) => verdict === 'accepted');
      expect(
        accepted.filter((arrival) => isChanged(arrival, path)),
        path,
      ).toEqual([]);
      expect(accepted.length, path).toBeLessThanOrEqual(1);
      if (accepted.length === 0) refused += 1;
    }
    // The same calls are accepted without the construct, except for the few that nginx always refuses.
    if (!KEEPING_SIGNED.has(name)) expect(refused).toBeGreaterThan(paths.length / 10);
  });
});

describe.skipIf(NGINX === undefined)('a gateway that presents a proof more than once', () => {
  it('gets it accepted only once if it mirrors requests', async () => {
    await using daemon = await startJudgingDaemon();
    const configuration = join(FOLDER, 'mirrored.conf');
    await using gateway = await startDaemonGateway({ daemons: [daemon.address], configuration });
    const arrivals = await call(gateway, daemon, '/api/invoke');
    await expect.poll(() => arrivals.push(...daemon.takeArrivals())).toBe(2);
    expect(arrivals.map(({ verdict }) => verdict).sort()).toEqual(['401', 'accepted']);
  });

  it('gets it accepted only once if it resends what a daemon has begun', async () => {
    await using daemon = await startJudgingDaemon({ hangsUp: true });
    const configuration = join(FOLDER, 'sent-again.conf');
    await using gateway = await startDaemonGateway({ daemons: [daemon.address], configuration });
    const arrivals = await call(gateway, daemon, '/api/invoke');
    expect(arrivals.map(({ verdict }) => verdict)).toEqual(['accepted', '401']);
  });

  it('is not the shipped one', async () => {
    await using daemon = await startJudgingDaemon({ hangsUp: true });
    await using gateway = await startDaemonGateway({ daemons: [daemon.address] });
    const arrivals = await call(gateway, daemon, '/api/invoke');
    expect(arrivals.map(({ verdict }) => verdict)).toEqual(['accepted']);
  });
});

describe.skipIf(NGINX === undefined)('a gateway that derives proof headers from others', () => {
  it('does not get another caller accepted', async () => {
    await using daemon = await startJudgingDaemon();
    const configuration = join(FOLDER, 'header-alias.conf');
    await using gateway = await startDaemonGateway({ daemons: [daemon.address], configuration });
    const alias: [string, string][] = [['X_Ori_Invoke_User', 'mallory']];
    const [arrival] = await call(gateway, daemon, '/api/invoke', alias);
    expect(arrival).toMatchObject({ target: '/api/invoke', verdict: '401' });
  });
});

it.each(CONFIGURATIONS)('states its fault in the first line: %s', (name) => {
  expect(readFileSync(join(FOLDER, name), 'utf8')).toMatch(/^# Construct: .+\n/);
});

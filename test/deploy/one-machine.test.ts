import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, cp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createLocalKeySet, createVerifier } from '@ori/verifier';
import { createTestReplayStore } from '@ori/verifier/testing';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createDpopKey } from '../env/dpop.ts';
import { createHttpClient, type HttpClient, type Refused } from '../env/http-client.ts';
import { startIssuer, type TestIssuer } from '../env/issuer.ts';
import { freePort, freePorts } from '../env/ports.ts';
import { shippedFolder } from '../env/programs.ts';
import { findPrometheus } from '../env/prometheus-binaries.ts';
import { findProgram, openRoom, type Room } from '../env/room.ts';
import { ServerProcess } from '../env/server-process.ts';
import { ROOT } from './root.ts';

const README = await readFile(join(ROOT, 'deploy/README.md'), 'utf8');
const SCRIPT = join(ROOT, 'deploy/one-machine.sh');
const needed = ['redis-server', 'nginx', 'openssl', 'psql', 'setpriv'];
const isPossible =
  process.getuid?.() === 0 && needed.every((name) => findProgram(name, ['/usr/sbin']) !== undefined);

/** A proof of the gateway, and what it refuses to a session without a key. */
async function prove(
  client: HttpClient,
  issuer: TestIssuer,
  base: string,
  internId: string,
  subject: string,
) {
  const body = Buffer.from('{"prompt":"hello"}');
  const route = { method: 'POST', path: '/api/invoke' };
  const path = `/v1/interns/${internId}/daemon/sign`;
  const json = { bodySha256: createHash('sha256').update(body).digest('hex'), route };
  const key = await createDpopKey();
  const accessToken = await issuer.token({ subject, claims: { cnf: { jkt: key.thumbprint } } });
  const url = `${new URL(base).origin}${path}`;
  const ask = async (nonce: string | undefined) => {
    const content = JSON.stringify(json);
    const dpop = await key.proof({ url, accessToken, content, ...(nonce && { nonce }) });
    const headers = { authorization: `DPoP ${accessToken}`, dpop };
    return client.ask({ method: 'POST', path, json, headers });
  };
  const unbound = await client.ask({ method: 'POST', path, json, bearer: await issuer.token() });
  const challenged = await ask(undefined);
  const signed = await ask(String(challenged.headers['dpop-nonce']));
  expect(signed.status).toBe(200);
  const jwks = (await client.ask({ path: `/v1/interns/${internId}/daemon/jwks.json` })).json();
  const keys = createLocalKeySet(jwks);
  const verifier = createVerifier({ internId, keys, replay: createTestReplayStore() });
  const headers = { 'Content-Type': 'application/json', ...signed.json<Record<string, string>>() };
  const rawHeaders = Object.entries<string>(headers).flat();
  const { user } = await verifier.verify({ method: route.method, target: route.path, body, rawHeaders });
  return { user, jwks, unbound: [unbound.status, unbound.json<Refused>().error.metadata?.reason] };
}

test.skipIf(!isPossible)(
  'one script sets up a Debian machine until a daemon accepts a proof from its gateway, and starts it again',
  { timeout: 240_000 },
  async () => {
    await using room = await openRoom('ori-one-machine');
    const port = await freePorts(10);
    const base = `https://localhost:${port}/v1`;
    await using issuer = await startIssuer({ audience: base });
    const folder = join(room.directory, 'ori');
    await chmod(room.directory, 0o755);
    /** Builds anew, each time elsewhere. */
    const start = async (dist: string, ...first: readonly string[]) => {
      const output: string[] = [];
      // Each part runs as a separate user.
      await cp(await shippedFolder(), join(room.directory, dist), { recursive: true });
      await chmod(join(room.directory, dist), 0o755);
      const script = new ServerProcess({
        room,
        program: '/bin/sh',
        arguments: [SCRIPT, folder, ...first],
        environment: { ORI_PORT: first.length > 0 ? String(port) : '', ORI_DIST: join(room.directory, dist) },
        ready: /^NODE_EXTRA_CA_CERTS=/,
        farewell: 'TERM',
        hear: (line) => void output.push(line),
      });
      await script.start();
      return { script, internId: /^ORI_INTERN=(.*)$/m.exec(output.join('\n'))?.[1] ?? '' };
    };
    const again = (...words: readonly string[]) =>
      spawnSync('sh', [SCRIPT, folder, ...words], {
        encoding: 'utf8',
        env: { ...process.env, ORI_DIST: join(room.directory, 'first') },
      });
    const refused = (words: string) => ({ status: 1, stderr: expect.stringContaining(words) });

    const begun = performance.now();
    const { script, internId } = await start('first', issuer.url, 'ada');
    const certificate = await readFile(join(folder, 'gateway.crt'), 'utf8');
    using client = createHttpClient(base, { certificate });
    let jwks: unknown;
    try {
      const proven = await prove(client, issuer, base, internId, 'ada');
      console.log(`first proof after ${((performance.now() - begun) / 1000).toFixed(1)} s`);
      expect(proven).toMatchObject({ user: 'ada', unbound: [403, 'dpop_required'] });
      jwks = proven.jwks;
      // Each service can read its own ring, or it would not run; and only its owner can.
      const rings = await Promise.all(
        ['signer', 'management'].map((name) => stat(join(folder, `secrets/${name}-kek.json`))),
      );
      expect(rings.map(({ mode }) => mode & 0o777)).toEqual([0o600, 0o600]);
      expect(new Set(rings.map(({ uid }) => uid)).size).toBe(2);
      const env = spawnSync('sh', ['-c', `. ${folder}/ori.env; echo $ORI_BASE_URL`], { encoding: 'utf8' });
      expect([env.stdout, README.includes('. /srv/ori/ori.env')]).toEqual([`${base}\n`, true]);
      const stranger = new pg.Client(`postgres://superuser:guess@127.0.0.1:${port + 7}/postgres`);
      await expect(stranger.connect()).rejects.toMatchObject({ code: '28P01' });
      expect(again()).toMatchObject(refused('runs already'));
      expect(again(issuer.url, 'ada')).toMatchObject(refused(`start it with one-machine.sh ${folder}`));
    } finally {
      await script.end('SIGTERM');
    }
    for (let each = port; each < port + 10; each += 1) {
      await expect(once(connect(each, '127.0.0.1'), 'connect')).rejects.toMatchObject({
        code: 'ECONNREFUSED',
      });
    }

    await rm(join(room.directory, 'first'), { recursive: true });
    const team = join(folder, 'team.yaml');
    await writeFile(
      team,
      (await readFile(team, 'utf8')).replace(
        /members: \[(.*)\]/,
        'members: [$1, { subject: alan, name: Alan }]',
      ),
    );
    expect(README).toContain('`sudo sh deploy/one-machine.sh /srv/ori` starts it again');
    const second = await start('second');
    try {
      expect(await prove(client, issuer, base, second.internId, 'alan')).toMatchObject({
        user: 'alan',
        jwks,
      });
      const prometheus = findPrometheus()?.prometheus;
      if (prometheus !== undefined) await expectScraped(room, folder, prometheus);
    } finally {
      await second.script.end('SIGTERM');
    }
  },
);

/** How many instances of each job a Prometheus with the folder's configuration reaches. */
async function expectScraped(room: Room, folder: string, program: string): Promise<void> {
  const file = join(folder, 'prometheus/prometheus.yml');
  await writeFile(
    file,
    (await readFile(file, 'utf8')).replace(/scrape_(interval|timeout): \w+/g, 'scrape_$1: 1s'),
  );
  const address = `127.0.0.1:${await freePort()}`;
  expect(README).toContain('`prometheus --config.file=/srv/ori/prometheus/prometheus.yml`');
  const storage = `--storage.tsdb.path=${join(room.directory, 'metrics')}`;
  const prometheus = new ServerProcess({
    room,
    program,
    arguments: [`--config.file=${file}`, storage, `--web.listen-address=${address}`],
    ready: /Server is ready to receive web requests/,
    farewell: 'KILL',
  });
  await prometheus.start();
  const query = encodeURIComponent('sum by (job) (up{job!="prometheus"})');
  const up = async () => {
    const answer = await fetch(`http://${address}/api/v1/query?query=${query}`);
    const { data } = (await answer.json()) as {
      data: { result: { metric: { job: string }; value: [number, string] }[] };
    };
    return Object.fromEntries(data.result.map(({ metric, value }) => [metric.job, value[1]]));
  };
  await expect.poll(up).toEqual({ management: '1', nginx: '1', signer: '2' });
}

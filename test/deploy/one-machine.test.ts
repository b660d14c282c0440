import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, cp, readFile, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createLocalKeySet, createVerifier } from '@ori/verifier';
import { createTestReplayStore } from '@ori/verifier/testing';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createDpopKey } from '../env/dpop.ts';
import { createHttpClient, type Refused } from '../env/http-client.ts';
import { startIssuer } from '../env/issuer.ts';
import { freePorts } from '../env/ports.ts';
import { shippedFolder } from '../env/programs.ts';
import { findProgram, openRoom } from '../env/room.ts';
import { ServerProcess } from '../env/server-process.ts';
import { ROOT } from './root.ts';

const needed = ['redis-server', 'nginx', 'openssl', 'psql', 'setpriv'];
const isPossible =
  process.getuid?.() === 0 && needed.every((name) => findProgram(name, ['/usr/sbin']) !== undefined);

test.skipIf(!isPossible)(
  'one script sets up a Debian machine until a daemon accepts a proof from its gateway',
  { timeout: 240_000 },
  async () => {
    await using room = await openRoom('ori-one-machine');
    const port = await freePorts(9);
    const base = `https://localhost:${port}/v1`;
    await using issuer = await startIssuer({ audience: base });
    const output: string[] = [];
    const [folder, dist] = [join(room.directory, 'ori'), join(room.directory, 'dist')];
    await cp(await shippedFolder(), dist, { recursive: true });
    // Each part runs as a separate user.
    for (const path of [room.directory, dist]) await chmod(path, 0o755);
    const begun = performance.now();
    const script = new ServerProcess({
      room,
      program: '/bin/sh',
      arguments: [join(ROOT, 'deploy/one-machine.sh'), folder, issuer.url, 'ada'],
      environment: { ORI_PORT: String(port), ORI_DIST: dist },
      ready: /^NODE_EXTRA_CA_CERTS=/,
      farewell: 'TERM',
      hear: (line) => void output.push(line),
    });
    try {
      await script.start();
      const internId = /^ORI_INTERN=(.*)$/m.exec(output.join('\n'))?.[1] ?? '';
      const certificate = await readFile(join(folder, 'gateway.crt'), 'utf8');
      using client = createHttpClient(base, { certificate });
      const body = Buffer.from('{"prompt":"hello"}');
      const route = { method: 'POST', path: '/api/invoke' };
      const path = `/v1/interns/${internId}/daemon/sign`;
      const json = { bodySha256: createHash('sha256').update(body).digest('hex'), route };
      const key = await createDpopKey();
      const accessToken = await issuer.token({ claims: { cnf: { jkt: key.thumbprint } } });
      const url = `${new URL(base).origin}${path}`;
      const ask = async (nonce: string | undefined) => {
        const dpop = await key.proof({
          url,
          accessToken,
          content: JSON.stringify(json),
          ...(nonce && { nonce }),
        });
        return client.ask({
          method: 'POST',
          path,
          json,
          headers: { authorization: `DPoP ${accessToken}`, dpop },
        });
      };
      const unbound = await client.ask({ method: 'POST', path, json, bearer: await issuer.token() });
      expect([unbound.status, unbound.json<Refused>().error.metadata?.reason]).toEqual([
        403,
        'dpop_required',
      ]);
      const challenged = await ask(undefined);
      const signed = await ask(String(challenged.headers['dpop-nonce']));
      console.log(`first proof after ${((performance.now() - begun) / 1000).toFixed(1)} s`);
      expect(signed.status).toBe(200);
      const keys = await client.ask({ path: `/v1/interns/${internId}/daemon/jwks.json` });
      const verifier = createVerifier({
        internId,
        keys: createLocalKeySet(keys.json()),
        replay: createTestReplayStore(),
      });
      const headers = { 'Content-Type': 'application/json', ...signed.json<Record<string, string>>() };
      const proof = await verifier.verify({
        method: route.method,
        target: route.path,
        body,
        rawHeaders: Object.entries<string>(headers).flat(),
      });
      expect(proof.user).toBe('ada');
      // Each service can read its own ring, or it would not run; and only its owner can.
      const rings = await Promise.all(
        ['signer', 'management'].map((name) => stat(join(folder, `secrets/${name}-kek.json`))),
      );
      expect(rings.map(({ mode }) => mode & 0o777)).toEqual([0o600, 0o600]);
      expect(new Set(rings.map(({ uid }) => uid)).size).toBe(2);
      const stranger = new pg.Client(`postgres://superuser:guess@127.0.0.1:${port + 7}/postgres`);
      await expect(stranger.connect()).rejects.toMatchObject({ code: '28P01' });
    } finally {
      await script.end('SIGTERM');
    }
    for (let each = port; each < port + 9; each += 1) {
      await expect(once(connect(each, '127.0.0.1'), 'connect')).rejects.toMatchObject({
        code: 'ECONNREFUSED',
      });
    }
  },
);

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NGINX, startGateway } from '../env/gateway.ts';
import { createHttpClient } from '../env/http-client.ts';
import { startScriptedService } from './scripted-service.ts';

const SIGN = '/v1/interns/int_1/daemon/sign';
const OPEN = [
  '/v1/interns/int_1/daemon/jwks.json',
  '/.well-known/oauth-protected-resource/v1',
  '/log/checkpoint',
];

test.skipIf(NGINX === undefined)(
  'in maintenance mode everything is 503 with Retry-After, until it ends, except what verifiers and monitors need',
  async () => {
    await using service = await startScriptedService((_req, res) => void res.end('{}'));
    const members = [service.address];
    await using gateway = await startGateway({ signers: members, management: members, log: service.address });
    const file = join(gateway.folder, 'conf/site/maintenance.conf');
    using http = createHttpClient(gateway.url);
    const ask = (path: string, method = 'GET') => http.ask({ path, method, again: true });
    expect((await ask(SIGN, 'POST')).status).toBe(200);
    writeFileSync(file, 'default 1;\n');
    await gateway.reload();
    for (const [path, method] of [
      [SIGN, 'POST'],
      ['/v1/interns', 'GET'],
    ] as const) {
      const told = async () => {
        const answer = await ask(path, method);
        const { error } = answer.json() as { readonly error?: { readonly code: number } };
        return [answer.status, answer.headers['retry-after'], error?.code];
      };
      // An old worker may still accept a connection.
      await expect.poll(told).toEqual([503, '30', 503]);
    }
    for (const path of OPEN) expect((await ask(path)).status, path).toBe(200);
    rmSync(file);
    await gateway.reload();
    await expect.poll(async () => (await ask(SIGN, 'POST')).status).toBe(200);
  },
);

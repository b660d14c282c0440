import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, NGINX, startGateway } from '../env/gateway.ts';
import { createHttpClient } from '../env/http-client.ts';
import { reasonOf, SIGN_BODY, startWorld, type World } from '../env/world.ts';

describe.skipIf(NGINX === undefined)('the gateway', () => {
  let world: World;
  let gateway: Gateway;
  beforeAll(async () => {
    world = await startWorld({ environment: { TRUST_GATEWAY: 'true' } });
    gateway = await startGateway({ signers: [new URL(world.baseUrl).host], management: ['127.0.0.1:9'] });
  });
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await world?.[Symbol.asyncDispose]();
  });

  it('routes a signing request to the signer', async () => {
    using http = createHttpClient(gateway.url);
    const headers = ['Authorization', `Bearer ${await world.token()}`, 'Content-Type', 'application/json'];
    const reply = await http.ask({ method: 'POST', path: world.signPath, headers, body: SIGN_BODY });
    expect(reply).toMatchObject({ status: 200 });
    expect(JSON.parse(reply.text)).toHaveProperty('x-ori-invoke-signature-v2');
    await expect.poll(() => gateway.accessLog()).toContain(`"requestId":"${reply.headers['x-request-id']}"`);
    expect(await world.audit()).toContain(`"requestId":"${reply.headers['x-request-id']}"`);
  });

  it('reports in the route’s envelope that a service cannot be reached', async () => {
    using http = createHttpClient(gateway.url);
    const interns = await http.ask({ path: '/v1/interns' });
    expect([interns.status, reasonOf(interns)]).toEqual([502, 'internal_error']);
    const byok = await http.ask({ path: '/v1/byok' });
    expect([byok.status, reasonOf(byok)]).toEqual([502, undefined]);
  });
});

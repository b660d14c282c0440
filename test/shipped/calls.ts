import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Refused } from '../env/http-client.ts';
import type { Stack } from './stack.ts';
import { callWith, PNG, signingOf } from './world.ts';

const BODY = '{"prompt":"hello"}';

/** Each kind of request, as callers send it. */
export function describeCalls(on: () => Stack): void {
  describe('a call', () => {
    const sign = (bearer: string) => on().client.ask(signingOf(on(), BODY, bearer));
    const call = (proof: Record<string, string>) => on().daemons[0].client.ask(callWith(proof, BODY));

    test('a client discovers the issuer, signs in, has a call signed, and the daemon accepts it once', async () => {
      const found = await on().client.ask({ path: '/.well-known/oauth-protected-resource/v1' });
      expect(found.json()).toMatchObject({
        resource: on().baseUrl,
        authorization_servers: [on().issuer.url],
        scopes_supported: expect.arrayContaining(['vault:read']),
      });
      const bearer = await on().issuer.token();
      let proof: Record<string, string>;
      let first: Awaited<ReturnType<typeof call>>;
      for (;;) {
        const signed = await sign(bearer);
        expect(signed.status).toBe(200);
        proof = signed.json();
        first = await call(proof);
        if (first.status !== 401 || first.json<Refused>().error.code !== 'proof_before_fence') break;
        // Like `ori call`: a newly started daemon reports when it will accept new proofs.
        await pause(Number(first.headers['retry-after']) * 1000);
      }
      expect([first.status, first.json()]).toEqual([200, { user: 'ada', body: BODY }]);
      const second = await call(proof);
      expect([second.status, second.json<Refused>().error.code]).toEqual([401, 'nonce_replayed']);
    });

    test('refusals come from the signer, with the request id from the gateway', async () => {
      const refused = await sign('no-token-at-all');
      expect(refused.status).toBe(401);
      expect(refused.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
      expect(refused.json<Refused>().error).toEqual({ code: 401, message: expect.any(String) });
    });

    test('the public keys of the intern are served, and cached by their entity tag', async () => {
      const path = `/v1/interns/${on().demo.internId}/daemon/jwks.json`;
      const keys = await on().client.ask({ path });
      expect(keys.json<{ keys: object[] }>().keys).toMatchObject([
        { crv: 'Ed25519', x: Buffer.from(on().demo.publicKey).toString('base64url') },
      ]);
      const etag = keys.headers.etag ?? '';
      expect((await on().client.ask({ path, headers: { 'if-none-match': etag } })).status).toBe(304);
    });

    test('interns can be listed, and their icons are served', async () => {
      const bearer = on().demo.apiKey;
      const list = await on().client.ask({ path: '/v1/interns', bearer });
      expect(list.json<{ data: { id: string }[] }>().data.map(({ id }) => id)).toEqual([on().demo.internId]);
      const icon = await on().client.ask({ path: `/v1/interns/${on().demo.internId}/icon`, bearer });
      expect([icon.headers['content-type'], icon.bytes]).toEqual(['image/png', PNG]);
    });

    test('a guardrail’s pattern is compiled on a separate thread', async () => {
      const make = (pattern: string) =>
        on().client.ask({
          method: 'POST',
          path: '/v1/guardrails',
          bearer: on().managementKey,
          json: {
            name: 'filtering',
            workspace_id: on().demo.workspaceId,
            content_filters: [{ pattern, action: 'redact', label: '[KEY]' }],
          },
        });
      expect((await make('sk-[a-z0-9]{8}')).status).toBe(201);
      expect((await make('(a)\\1')).status).toBe(400);
    });

    test('the reference is served', async () => {
      const reference = await on().client.ask({ path: '/v1/docs' });
      expect(reference.status).toBe(200);
      expect(reference.bytes.toString()).toContain('id="signDaemonRequest"');
    });
  });
}

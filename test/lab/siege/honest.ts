import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { addMember, addSubject, createUser } from '@ori/store/admin';
import type { ShippedWorld } from '../../shipped/world.ts';

/** The memory limit of a service in compose.yaml and the Kubernetes manifests. */
export const MEMORY_LIMIT_BYTES = 512 * 1024 * 1024;
export const MEMORY_SHARE = 0.75;
/** On two idle cores, 0.99 within a second. A shared machine gets more room, so that only an outage fails the test. */
export const HONEST_SHARE = Number(process.env['SIEGE_SHARE'] ?? 0.9);
const HONEST_MS = Number(process.env['SIEGE_HONEST_MS'] ?? 2500);
const MEMBERS = 10;
const EACH_MS = 500;

export interface Honest {
  answered: number;
  right: number;
  worstMs: number;
}

/** One request of another tenant: whether the response was correct, and its time. */
export type Errand = () => Promise<boolean>;

/** The requests of the other tenant: a proof per member, some with opaque tokens, and a list by the operator. */
export async function honestErrands(world: ShippedWorld, agent: Agent): Promise<Errand[]> {
  const { store, issuer, demo, gateway, managementKey } = world;
  const ask = (
    index: number,
    method: string,
    path: string,
    bearer: string,
    json?: unknown,
  ): Promise<boolean> =>
    new Promise((resolve) => {
      const body = json === undefined ? undefined : JSON.stringify(json);
      const headers = {
        host: 'localhost',
        authorization: `Bearer ${bearer}`,
        'x-forwarded-for': `198.51.100.${index}`,
        ...(body !== undefined && { 'content-type': 'application/json', 'content-length': body.length }),
      };
      const sent = request({
        agent,
        host: '127.0.0.1',
        port: gateway.port,
        method,
        path,
        headers,
        timeout: 8000,
      });
      sent.once('timeout', () => sent.destroy());
      sent.once('error', () => resolve(false));
      sent.once('response', (reply) => {
        reply.resume().once('close', () => resolve(reply.complete && reply.statusCode === 200));
      });
      sent.end(body);
    });
  const proof = { bodySha256: 'a'.repeat(64), route: { method: 'POST', path: '/api/invoke' } };
  const members = Array.from({ length: MEMBERS }, async (_, index): Promise<Errand> => {
    const subject = `honest-${index}`;
    const { id: userId } = await createUser(store, { name: subject });
    await addSubject(store, { userId, issuer: issuer.url, subject });
    await addMember(store, { workspaceId: demo.workspaceId, userId });
    const bearer =
      index % 3 === 0
        ? issuer.opaqueToken({ subject, expiresInSeconds: 3600 })
        : await issuer.token({ subject, expiresInSeconds: 3600 });
    return () => ask(index + 1, 'POST', `/v1/interns/${demo.internId}/daemon/sign`, bearer, proof);
  });
  return [
    ...(await Promise.all(members)),
    () => ask(101, 'GET', `/v1/guardrails?workspace_id=${demo.workspaceId}`, managementKey),
    () => ask(102, 'GET', '/v1/interns', demo.apiKey),
  ];
}

/** Repeats each request for this long and checks every response, including late ones. */
export async function serveAll(errands: readonly Errand[], ms: number): Promise<Honest> {
  const honest: Honest = { answered: 0, right: 0, worstMs: 0 };
  const until = performance.now() + ms;
  await Promise.all(
    errands.map(async (errand, index) => {
      await pause((index * EACH_MS) / errands.length);
      while (performance.now() < until) {
        const begun = performance.now();
        const isRight = await errand();
        const tookMs = performance.now() - begun;
        honest.answered += 1;
        if (isRight && tookMs <= HONEST_MS) honest.right += 1;
        honest.worstMs = Math.max(honest.worstMs, tookMs);
        // People do not keep step: in step, each of them would always meet the same signer.
        const next = begun + EACH_MS * (0.5 + Math.random());
        if (next >= until) return;
        await pause(Math.max(0, next - performance.now()));
      }
    }),
  );
  return honest;
}

export class DisposableAgent implements Disposable {
  readonly agent = new Agent({ keepAlive: true });

  [Symbol.dispose](): void {
    this.agent.destroy();
  }
}

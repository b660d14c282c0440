import { setTimeout as pause } from 'node:timers/promises';
import { addMember } from '@ori/administration/members';
import { addSubject, createUser } from '@ori/administration/users';
import type { Ask, HttpClient } from '../../env/http-client.ts';
import type { ShippedWorld } from '../../shipped/world.ts';

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
export async function honestErrands(world: ShippedWorld, client: HttpClient): Promise<Errand[]> {
  const { store, issuer, demo, managementKey } = world;
  const errand = (index: number, ask: Ask): Errand => {
    const headers = { host: 'localhost', 'x-forwarded-for': `198.51.100.${index}` };
    return () =>
      client.ask({ ...ask, headers }).then(
        ({ status }) => status === 200,
        () => false,
      );
  };
  const json = { bodySha256: 'a'.repeat(64), route: { method: 'POST', path: '/api/invoke' } };
  const path = `/v1/interns/${demo.internId}/daemon/sign`;
  const members = Array.from({ length: MEMBERS }, async (_, index): Promise<Errand> => {
    const subject = `honest-${index}`;
    const { id: userId } = await createUser(store, { name: subject });
    await addSubject(store, { userId, issuer: issuer.url, subject });
    await addMember(store, { workspaceId: demo.workspaceId, userId });
    const bearer =
      index % 3 === 0
        ? issuer.opaqueToken({ subject, expiresInSeconds: 3600 })
        : await issuer.token({ subject, expiresInSeconds: 3600 });
    return errand(index + 1, { method: 'POST', path, bearer, json });
  });
  return [
    ...(await Promise.all(members)),
    errand(101, { path: `/v1/guardrails?workspace_id=${demo.workspaceId}`, bearer: managementKey }),
    errand(102, { path: '/v1/interns', bearer: demo.apiKey }),
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

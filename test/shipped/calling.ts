import type { Answer, Client } from './client.ts';
import { startLoad } from './constant-load.ts';
import type { Incident, IncidentWorld } from './incidents.ts';
import { callWith, signingOf } from './world.ts';

const PER_SECOND = 20;
const BODY = '{"prompt":"hello"}';

/** Signs, or signs and calls a daemon, until `end`. */
export async function startCalling(
  world: IncidentWorld,
  client: Client,
  { calls }: Incident,
  perSecond = PER_SECOND,
) {
  const opaque = calls === 'opaque' ? world.issuer.opaqueToken() : undefined;
  const bearer = opaque ?? (await world.issuer.token({ expiresInSeconds: 3600 }));
  const signing = signingOf(world, BODY, bearer);
  const daemon = typeof calls === 'number' ? world.daemons[calls].client : undefined;
  const call = async () => {
    const signed = await client.ask(signing);
    if (daemon === undefined || signed.status !== 200) return outcomeOf(signed);
    return outcomeOf(await daemon.ask(callWith(signed.json(), BODY)));
  };
  let outcome = 'none';
  const load = startLoad(perSecond, async () => {
    const at = performance.now();
    outcome = await call().catch(() => 'no answer');
    return { at, answeredAt: performance.now(), outcome };
  });
  return {
    /** Of the last call. */
    outcome: () => outcome,
    [Symbol.asyncDispose]: async () => void (await load.end()),
    async end(brokenAt: number) {
      const outcomes = await load.end();
      const answers = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []));
      const during = answers.filter(({ answeredAt }) => answeredAt >= brokenAt);
      // To a caller, a response that is seconds late is useless.
      const failures = during.filter(
        ({ at, answeredAt, outcome }) => outcome !== '200' || answeredAt - at > 5000,
      );
      return { failures, total: during.length };
    },
  };
}

/** The status, and the code of a daemon's refusal. */
function outcomeOf(answer: Answer): string {
  const code = answer.status === 200 ? undefined : answer.json().error.code;
  return typeof code === 'string' ? `${answer.status} ${code}` : `${answer.status}`;
}

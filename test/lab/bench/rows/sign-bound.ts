import { createDpopKey, dpopHeaders } from '../../../env/dpop.ts';
import { SIGN_BODY, type World } from '../../../env/world.ts';
import { runContest } from '../contest.ts';
import { alternate, type Bench, combine, type Finding, type Row } from '../row.ts';
import { type Measured, requestBytes, type SignStage, warmStage } from '../sign-stage.ts';

/** More than the signer can answer in a second. */
const PROOFS_PER_SECOND = 4000;

const ALGORITHMS = ['ES256', 'Ed25519'] as const;

type Algorithm = (typeof ALGORITHMS)[number];

/** The most CPU that a bound proof may take, of an unbound one and one signature verification. */
const BOUND_AT_MOST = 1.1;

/** The least of the speed of one signature verification that verifying a DPoP proof may have. */
const PROOF_AT_LEAST = 0.87;

/**
 * The sign route with a session bound to a key (RFC 9449) against the same route with an unbound one. Both tokens are cached. A
 * server pays more for a verification than a loop of them does, so its price is taken from the floor, with and without one.
 */
export const signBoundRow: Row = {
  name: 'sign-bound',
  async run(bench) {
    const titles = ALGORITHMS.flatMap((algorithm) => [algorithm, `verify ${algorithm}`]);
    const proofs = await runContest(bench, 'possession', titles);
    const stage = await warmStage(bench);
    const { load, ours, floor } = stage;
    const loaders: Record<string, () => Promise<Measured>> = {
      floor: () => load(floor, bench.load),
      unbound: () => load(ours, bench.load),
    };
    for (const algorithm of ALGORITHMS) {
      const verifying = await stage.verifyingFloor(algorithm);
      loaders[verifying.name] = () => load(verifying, bench.load);
      loaders[algorithm] = await openBound(bench, stage, algorithm);
    }
    for (const warm of Object.values(loaders)) await warm();
    const measured = await alternate(bench, loaders);
    const cpuOf = (side: string) => (measured[side] ?? []).map((one) => one.cpuMicrosecondsEach);
    return ALGORITHMS.flatMap((algorithm): Finding[] => {
      const verification = combine(
        cpuOf(`floor and ${algorithm}`),
        cpuOf('floor'),
        (more, less) => more - less,
      );
      const sum = combine(cpuOf('unbound'), verification, (one, other) => one + other);
      return [
        {
          title: `${algorithm}: the DPoP proof alone`,
          unit: 'per CPU s',
          ours: { name: 'prove', rounds: proofs[algorithm] ?? [] },
          theirs: { name: 'one verification', rounds: proofs[`verify ${algorithm}`] ?? [] },
          mark: { atLeast: PROOF_AT_LEAST },
        },
        {
          title: `${algorithm}: CPU per proof`,
          unit: 'µs',
          ours: { name: 'bound', rounds: cpuOf(algorithm) },
          theirs: { name: 'unbound and one verification', rounds: sum },
          mark: { atMost: BOUND_AT_MOST },
        },
      ];
    });
  },
};

/** Loads the signer with requests of one bound session, each with its own DPoP proof. */
async function openBound(
  bench: Bench,
  { load, ours, world }: SignStage,
  algorithm: Algorithm,
): Promise<() => Promise<Measured>> {
  const requestsOf = await openBoundSession(world, algorithm);
  const count = Math.ceil(PROOFS_PER_SECOND * bench.load.seconds);
  return async () => load(ours, { ...bench.load, requests: await requestsOf(count), eachOnce: true });
}

/** Signs in a session that is bound to a key, and returns what makes its requests, each with its own DPoP proof. */
export async function openBoundSession(
  world: World,
  algorithm: Algorithm,
): Promise<(count: number) => Promise<readonly string[]>> {
  const key = await createDpopKey(algorithm);
  const token = await world.token({ claims: { cnf: { jkt: key.thumbprint } }, expiresInSeconds: 7200 });
  const url = new URL(world.signPath, world.baseUrl).href;
  const challenged = {
    method: 'POST',
    path: world.signPath,
    body: SIGN_BODY,
    headers: [...dpopHeaders(token, 'none'), 'Content-Type', 'application/json'],
  };
  return async (count) => {
    const nonce = String((await world.http.ask(challenged)).headers['dpop-nonce']);
    const proofs = Array.from({ length: count }, () =>
      key.proof({ url, accessToken: token, nonce, content: SIGN_BODY }),
    );
    return (await Promise.all(proofs)).map((proof) => requestBytes(world, token, proof));
  };
}

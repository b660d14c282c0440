import { once } from 'node:events';
import { request } from 'node:http';
import { createDpopKey } from '../../env/dpop.ts';
import { SIGN_BODY, type World } from '../../env/world.ts';
import { runContest } from '../contest.ts';
import { alternate, type Bench, type Finding, type Row } from '../row.ts';
import { type Measured, requestBytes, type SignStage, warmStage } from '../sign-stage.ts';

/** More than the signer can answer in a second. */
const PROOFS_PER_SECOND = 4000;

const ALGORITHMS = ['ES256', 'Ed25519'] as const;
type Algorithm = (typeof ALGORITHMS)[number];

/**
 * The sign route with a session bound to a key (RFC 9449) against the same route with an unbound one. Both tokens are cached. A
 * server pays more for a verification than a loop of them does, so its price is taken from the floor, with and without one.
 */
export const signBoundRow: Row = {
  name: 'sign-bound',
  async run(bench) {
    const proofs = await runContest(bench, 'possession', [
      'ES256',
      'verify ES256',
      'Ed25519',
      'verify Ed25519',
    ]);
    const stage = await warmStage(bench);
    const { load, ours, floor } = stage;
    const verifying = {
      ES256: await stage.verifyingFloor('ES256'),
      Ed25519: await stage.verifyingFloor('Ed25519'),
    };
    const loaders = {
      floor: () => load(floor, bench.load),
      'floor and ES256': () => load(verifying.ES256, bench.load),
      'floor and Ed25519': () => load(verifying.Ed25519, bench.load),
      unbound: () => load(ours, bench.load),
      ES256: await openBound(bench, stage, 'ES256'),
      Ed25519: await openBound(bench, stage, 'Ed25519'),
    };
    for (const warm of Object.values(loaders)) await warm();
    const measured = await alternate(bench, loaders);
    return ALGORITHMS.flatMap((algorithm) =>
      compare(algorithm, {
        bound: measured[algorithm],
        unbound: measured.unbound,
        floor: measured.floor,
        verifying: measured[`floor and ${algorithm}`],
        proofsPerSecond: proofs[algorithm],
        verificationsPerSecond: proofs[`verify ${algorithm}`],
      }),
    );
  },
};

/** The allowed cost of a bound session: one signature verification plus 15 %. */
const MARK = 1.15;

function compare(
  algorithm: Algorithm,
  figures: {
    readonly bound: readonly Measured[];
    readonly unbound: readonly Measured[];
    readonly floor: readonly Measured[];
    readonly verifying: readonly Measured[];
    readonly proofsPerSecond: readonly number[];
    readonly verificationsPerSecond: readonly number[];
  },
): Finding[] {
  const { bound, unbound, floor, verifying, proofsPerSecond, verificationsPerSecond } = figures;
  const cpuOf = (rounds: readonly Measured[]) => rounds.map(({ cpuMicrosecondsEach }) => cpuMicrosecondsEach);
  const [each, eachUnbound] = [cpuOf(bound), cpuOf(unbound)];
  const verification = combine(cpuOf(verifying), cpuOf(floor), (more, less) => more - less);
  const sum = combine(eachUnbound, verification, (one, other) => one + other);
  return [
    {
      title: `${algorithm}: the DPoP proof alone`,
      unit: 'per CPU s',
      ours: { name: 'prove', rounds: proofsPerSecond },
      theirs: { name: 'one verification', rounds: verificationsPerSecond },
      mark: { atLeast: 1 / MARK },
    },
    {
      title: `${algorithm}: CPU per proof`,
      unit: 'µs',
      ours: { name: 'bound', rounds: each },
      theirs: { name: 'unbound and one verification', rounds: sum },
      mark: { atMost: MARK },
    },
    {
      title: `${algorithm}: what it adds`,
      unit: 'µs',
      ours: {
        name: 'bound less unbound',
        rounds: combine(each, eachUnbound, (more, less) => more - less),
      },
      theirs: { name: 'one verification', rounds: verification },
    },
    {
      title: `${algorithm}: throughput`,
      unit: 'proofs/s',
      ours: { name: 'bound', rounds: bound.map(({ perSecond }) => perSecond) },
      theirs: { name: 'unbound', rounds: unbound.map(({ perSecond }) => perSecond) },
    },
  ];
}

const combine = (
  these: readonly number[],
  those: readonly number[],
  by: (one: number, other: number) => number,
) => these.map((one, round) => by(one, those[round] ?? Number.NaN));

/** Loads the signer with requests of one bound session, each with its own DPoP proof. */
async function openBound(
  bench: Bench,
  { load, ours, world }: SignStage,
  algorithm: Algorithm,
): Promise<() => Promise<Measured>> {
  const key = await createDpopKey(algorithm);
  const token = await world.token({ claims: { cnf: { jkt: key.thumbprint } }, expiresInSeconds: 7200 });
  const url = new URL(world.signPath, world.baseUrl).href;
  return async () => {
    const nonce = await currentNonce(world, token);
    const proofs = Array.from({ length: Math.ceil(PROOFS_PER_SECOND * bench.load.seconds) }, () =>
      key.proof({ url, accessToken: token, nonce, content: SIGN_BODY }),
    );
    const requests = (await Promise.all(proofs)).map((proof) => requestBytes(world, token, proof));
    return load(ours, { ...bench.load, requests, eachOnce: true });
  };
}

/** The nonce from the challenge to a request without a valid DPoP proof. */
async function currentNonce(world: World, token: string): Promise<string> {
  const asked = request(new URL(world.signPath, world.baseUrl), {
    method: 'POST',
    headers: { Authorization: `DPoP ${token}`, DPoP: 'none', 'Content-Type': 'application/json' },
  });
  asked.end(SIGN_BODY);
  const [answer] = await once(asked, 'response');
  answer.resume();
  return String(answer.headers['dpop-nonce']);
}

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

/** The sign route with a session bound to a key (RFC 9449) against the same route with an unbound one. Both tokens are cached. */
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
    const { load, ours } = stage;
    const loaders = {
      unbound: () => load(ours, bench.load),
      ES256: await openBound(bench, stage, 'ES256'),
      Ed25519: await openBound(bench, stage, 'Ed25519'),
    };
    for (const algorithm of ALGORITHMS) await loaders[algorithm]();
    const measured = await alternate(bench, loaders);
    return ALGORITHMS.flatMap((algorithm) =>
      compare(algorithm, {
        bound: measured[algorithm],
        unbound: measured.unbound,
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
    readonly proofsPerSecond: readonly number[];
    readonly verificationsPerSecond: readonly number[];
  },
): Finding[] {
  const { bound, unbound, proofsPerSecond, verificationsPerSecond } = figures;
  const each = bound.map(({ cpuMicrosecondsEach }) => cpuMicrosecondsEach);
  const eachUnbound = unbound.map(({ cpuMicrosecondsEach }) => cpuMicrosecondsEach);
  const verification = verificationsPerSecond.map((perSecond) => 1e6 / perSecond);
  const sum = eachUnbound.map((microseconds, round) => microseconds + (verification[round] ?? Number.NaN));
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
        rounds: each.map((own, round) => own - (eachUnbound[round] ?? Number.NaN)),
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
      key.proof({ url, accessToken: token, nonce }),
    );
    const requests = (await Promise.all(proofs)).map((proof) =>
      requestBytes(world, token, { dpopProof: proof }),
    );
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

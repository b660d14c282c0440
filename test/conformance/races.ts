import { drop } from '../vectors/change-headers.ts';
import {
  begin,
  finish,
  INTERN_KEY,
  jwk,
  NOW,
  namedNonce,
  type restart,
  type StepOptions,
  step,
  TIMESTAMP,
} from '../vectors/proof.ts';
import { CONFIGURATION, STORE_SINCE } from '../vectors/scenario.ts';
import type { Command, Exchange, RequestCommand, Step } from './protocol.ts';

/** A check beyond the vectors, in the form of a scenario with its own expectations. */
export interface Trial {
  title: string;
  section: string;
  exchanges: Exchange[];
  /** For a race: exactly one verdict is `ok` and all others are this one. */
  others?: string;
}

const start = (acceptV1: boolean): Exchange => ({
  command: {
    do: 'start',
    verifier: { ...CONFIGURATION, acceptV1 },
    storeSince: STORE_SINCE,
    jwks: { keys: [jwk(INTERN_KEY.publicKey)] },
  },
  expected: { verdict: 'done' },
});

function exchangeOf(
  asked: Step | ReturnType<typeof step | typeof begin | typeof finish | typeof restart>,
): Exchange {
  const { expect, ...rest } = asked;
  return { command: rest as unknown as Command, expected: { verdict: expect } };
}

function requestOf(options: StepOptions): RequestCommand {
  const { method, target, rawHeaders, bodyBase64 } = step('ok', options);
  return { method, target, rawHeaders, bodyBase64 };
}

function race(title: string, requests: RequestCommand[], acceptV1 = false): Trial {
  return races(`accepts one of ${requests.length} ${title}`, [requests], acceptV1);
}

function races(title: string, rounds: readonly RequestCommand[][], acceptV1 = false): Trial {
  return {
    title,
    section: 'replay',
    exchanges: [
      start(acceptV1),
      ...rounds.map(
        (requests): Exchange => ({
          command: { do: 'race', now: NOW, requests },
          expected: { verdict: 'done' },
        }),
      ),
    ],
    others: 'nonce_replayed',
  };
}

/** Between the look-up and the record of a store without a lock are some microseconds: one race seldom meets them. */
function manyRaces(rounds: number, copies: number): Trial {
  const requests = Array.from({ length: rounds }, (_, index) =>
    Array<RequestCommand>(copies).fill(requestOf({ claim: { nonce: namedNonce(`race ${index}`) } })),
  );
  return races(`accepts one of ${copies} copies in each of ${rounds} races`, requests);
}

const STRIPPED = { headers: drop('x-ori-invoke-signature-v2', 'x-ori-invoke-nonce') };

function interleaved(count: number): Trial {
  const names = Array.from({ length: count }, (_, index) => `copy ${index}`);
  return {
    title: `accepts one of ${count} copies whose bodies are interleaved`,
    section: 'replay',
    exchanges: [
      start(false),
      ...names.map((name) => exchangeOf(begin(name, 'continue', { now: TIMESTAMP + 60 }))),
      ...names.map((name, index) =>
        exchangeOf(
          finish(name, index === 0 ? 'ok' : 'nonce_replayed', { now: TIMESTAMP + 60 + (index * 30) / count }),
        ),
      ),
    ],
  };
}

function flood(count: number): Trial {
  const nonces = Array.from({ length: count }, (_, index) => ({
    claim: { nonce: namedNonce(`flood ${index}`) },
  }));
  return {
    title: `remembers every one of ${count} proofs`,
    section: 'replay',
    exchanges: [
      start(false),
      ...nonces.map((options) => exchangeOf(step('ok', options))),
      ...nonces.map((options) => exchangeOf(step('nonce_replayed', options))),
    ],
  };
}

/** REPLAY-STORES.md under concurrency and load. */
export const TRIALS: readonly Trial[] = [
  ...[2, 8, 64].map((count) =>
    race(
      'copies of a proof',
      Array.from({ length: count }, () => requestOf({})),
    ),
  ),
  manyRaces(100, 8),
  race(
    'requests under one nonce',
    ['/a', '/b', '/c', '/d'].map((path) => requestOf({ claim: { path } })),
  ),
  race(
    'copies of a version 1 proof',
    Array.from({ length: 8 }, () => requestOf({ claim: { version: 1 } })),
    true,
  ),
  race('of a proof and its stripped copy', [requestOf({}), requestOf(STRIPPED)], true),
  race('of a stripped copy and its proof', [requestOf(STRIPPED), requestOf({})], true),
  interleaved(2),
  interleaved(16),
  flood(2000),
];

import { replace } from './change-headers.ts';
import { NOW, scenario, step, TIMESTAMP } from './proof.ts';
import type { RefusalCode, Scenario } from './scenario.ts';

function at(
  title: string,
  expect: 'ok' | RefusalCode,
  now: number,
  verifier: { maxAgeSeconds?: number; clockToleranceSeconds?: number } = {},
): Scenario {
  return scenario(
    expect === 'proof_not_yet_valid' || now < TIMESTAMP ? 'V13' : 'V12',
    title,
    [step(expect, { now })],
    { verifier },
  );
}

/** Only the intern is configured. */
const DEFAULTS = {
  maxAgeSeconds: undefined,
  clockToleranceSeconds: undefined,
  acceptV1: undefined,
  contentType: undefined,
};

/** The time window (SPEC.md, section 4.4), including both bounds. */
export const timeScenarios: Scenario[] = [
  at('accepts a proof of this very second', 'ok', TIMESTAMP),
  at('accepts a proof as old as the oldest', 'ok', TIMESTAMP + 60),
  at('refuses a proof one second too old', 'proof_expired', TIMESTAMP + 61),
  at('refuses a proof of a day ago', 'proof_expired', TIMESTAMP + 86_400),
  at('accepts a proof as far ahead as the clock tolerance', 'ok', TIMESTAMP - 2),
  at('refuses a proof one second further ahead', 'proof_not_yet_valid', TIMESTAMP - 3),
  at('refuses a proof of tomorrow', 'proof_not_yet_valid', TIMESTAMP - 86_400),
  at('accepts a proof of the greatest age configured', 'ok', TIMESTAMP + 600, { maxAgeSeconds: 600 }),
  at('refuses a proof older than the greatest age configured', 'proof_expired', TIMESTAMP + 601, {
    maxAgeSeconds: 600,
  }),
  at('accepts a proof of the least age configured', 'ok', TIMESTAMP + 1, { maxAgeSeconds: 1 }),
  at('refuses a proof older than the least age configured', 'proof_expired', TIMESTAMP + 2, {
    maxAgeSeconds: 1,
  }),
  at('accepts no second ahead without a tolerance', 'proof_not_yet_valid', TIMESTAMP - 1, {
    clockToleranceSeconds: 0,
  }),
  at('accepts this very second without a tolerance', 'ok', TIMESTAMP, { clockToleranceSeconds: 0 }),
  at('accepts five seconds ahead under a tolerance of five', 'ok', TIMESTAMP - 5, {
    clockToleranceSeconds: 5,
  }),
  ...(
    [
      ['V12', 'maxAgeSeconds', [0, -1, 601, 1.5]],
      ['V13', 'clockToleranceSeconds', [-1, 61, 0.5]],
    ] as const
  ).flatMap(([sentence, name, values]) =>
    values.map((value) =>
      scenario(sentence, `cannot be configured for ${name} ${value}`, [], {
        verifier: { [name]: value },
        expect: 'refused',
      }),
    ),
  ),
  at('accepts a proof as far ahead as the greatest tolerance', 'ok', TIMESTAMP - 60, {
    clockToleranceSeconds: 60,
  }),
  at('refuses a proof further ahead than the greatest tolerance', 'proof_not_yet_valid', TIMESTAMP - 61, {
    clockToleranceSeconds: 60,
  }),
  ...(
    [
      ['V12', 'accepts a proof of the greatest age by default', 'ok', TIMESTAMP + 60],
      ['V12', 'refuses a proof older than the greatest age by default', 'proof_expired', TIMESTAMP + 61],
      ['V13', 'accepts a proof as far ahead as the tolerance by default', 'ok', TIMESTAMP - 2],
      [
        'V13',
        'refuses a proof further ahead than the tolerance by default',
        'proof_not_yet_valid',
        TIMESTAMP - 3,
      ],
    ] as const
  ).map(([sentence, title, expect, now]) =>
    scenario(sentence, title, [step(expect, { now })], { verifier: DEFAULTS }),
  ),
  scenario(
    'V5',
    'requires version 2 by default',
    [step('proof_version_not_accepted', { claim: { version: 1 } })],
    {
      verifier: DEFAULTS,
    },
  ),
  scenario(
    'V10',
    'requires application/json by default',
    [step('request_not_coverable', { headers: replace('Content-Type', 'text/plain') })],
    { verifier: DEFAULTS },
  ),
  scenario('V15', 'refuses an old proof under a fresh timestamp', [
    step('signature_invalid', {
      claim: { timestamp: String(TIMESTAMP - 3600) },
      headers: replace('x-ori-invoke-timestamp', String(NOW)),
    }),
  ]),
];

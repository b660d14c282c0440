import { execFileSync } from 'node:child_process';
import { createRootedSetReader, KEY_SET_HEADER, KeyError, parseJwkSet } from '@ori/proof';
import { expect, test, vi } from 'vitest';
import {
  delegate,
  delegationsOf,
  documentOf,
  HERE,
  headersOf,
  jwkOf,
  newKey,
  newRoot,
  urlOf,
} from '../../../libs/public/verifier/src/keys/test-root.fixture.ts';
import { openPorts } from './open-ports.ts';

vi.setConfig({ testTimeout: 120_000 });

const NOW = 1_000_000;
const held = newRoot();
const [one, two, thief] = [newKey(), newKey(), newKey()];

interface Asked {
  readonly bodyBase64?: string;
  readonly statement?: string;
  readonly now: number;
}

function answer(body: Uint8Array, at: number, { by = held.freshness, place = HERE, now = NOW } = {}): Asked {
  const statement = headersOf(by, body, at, place)[KEY_SET_HEADER];
  return { bodyBase64: Buffer.from(body).toString('base64'), statement, now };
}

const current = documentOf(held, [one]);
const other = { ...HERE, internId: 'int_2' };
const next = newRoot();
const chain = [delegate(held.root, 'root', next.root), ...delegationsOf(next)];
const many = Array(17).fill(delegationsOf(held)[0]);
const ended = [
  delegate(held.root, 'keys', held.keys),
  delegate(held.root, 'freshness', held.freshness, { exp: 9 }),
];
const answers: readonly Asked[] = [
  answer(documentOf(held, [two, one]), NOW - 5000),
  answer(current, NOW),
  { statement: answer(current, NOW + 1000).statement ?? '', now: NOW + 1000 },
  answer(documentOf(held, [two, one]), NOW - 5000),
  { ...answer(current, NOW), statement: 'x' },
  { now: NOW },
  answer(Buffer.from('{"keys":[]}'), NOW),
  answer(Buffer.from('{"keys":[],"ori":[]}'), NOW),
  answer(documentOf(held, [one], { place: other }), NOW, { place: other }),
  answer(documentOf(held, [one], { place: other }), NOW + 2000),
  answer(current, NOW - 60_000),
  answer(current, NOW + 10_001),
  answer(current, NOW, { by: held.keys }),
  answer(documentOf(newRoot(), [thief]), NOW),
  answer(documentOf({ ...held, keys: thief }, [thief], { delegations: delegationsOf(held) }), NOW + 3000),
  answer(documentOf(held, [one], { delegations: many }), NOW),
  answer(documentOf(held, [one], { delegations: ended }), NOW),
  answer(documentOf(next, [one], { delegations: chain }), NOW + 4000, { by: next.freshness }),
];

function ours(): string[] {
  const roots = parseJwkSet({ keys: [jwkOf(held.root)] });
  const read = createRootedSetReader({ roots, baseUrl: HERE.baseUrl, internId: HERE.internId });
  return answers.map(({ bodyBase64, statement = null, now }) => {
    try {
      read({
        body: bodyBase64 === undefined ? undefined : Buffer.from(bodyBase64, 'base64'),
        statement,
        now,
      });
      return 'ok';
    } catch (error) {
      return error instanceof KeyError ? error.code : String(error);
    }
  });
}

const ROOTED = openPorts().filter(({ name }) => name !== 'Ruby port');

test.each(ROOTED)(
  '$name judges rooted key sets as our verifier does',
  ({ conform: [command = '', ...args] }) => {
    const asked = { do: 'rooted', url: urlOf(HERE), roots: [jwkOf(held.root)], answers };
    const said = execFileSync(command, args, { input: `${JSON.stringify(asked)}\n`, encoding: 'utf8' });
    const expected = ours();
    expect(new Set(expected).size).toBeGreaterThan(9);
    expect(JSON.parse(said).verdicts).toEqual(expected);
  },
);

import { expect, test } from 'vitest';
import { SCENARIOS } from '../vectors/read.ts';
import { differenceOf, type Exchange, exchangesOf, inPieces } from './protocol.ts';
import { createSubject } from './subject.ts';

async function differencesOf(exchanges: readonly Exchange[]): Promise<(string | undefined)[]> {
  const ask = createSubject();
  const differences: (string | undefined)[] = [];
  for (const { command, expected } of exchanges) differences.push(differenceOf(expected, await ask(command)));
  return differences.filter((difference) => difference !== undefined);
}

test.each(SCENARIOS)('$title', async (scenario) => {
  expect(await differencesOf(exchangesOf(scenario))).toEqual([]);
});

test('gives the same verdicts to bodies that arrive byte by byte', async () => {
  for (const scenario of SCENARIOS) {
    const exchanges = exchangesOf(scenario).flatMap((exchange) =>
      ['ok', 'signature_invalid'].includes(exchange.expected.verdict) ? inPieces(exchange, 1) : [exchange],
    );
    expect(await differencesOf(exchanges), scenario.title).toEqual([]);
  }
});

import { describe, expect, test } from 'vitest';
import { type Exchange, exchangesOf, inPieces, readScenarios, type Verdict } from './protocol.ts';
import { createSubject } from './subject.ts';

const SCENARIOS = readScenarios();

async function answersTo(exchanges: readonly Exchange[]): Promise<Verdict[]> {
  const ask = createSubject();
  const answers: Verdict[] = [];
  for (const { command } of exchanges) answers.push(await ask(command));
  return answers;
}

/** Only what is expected: how long to wait is compared where a vector says it. */
function asExpected(answers: readonly Verdict[], exchanges: readonly Exchange[]): Verdict[] {
  return answers.map(({ retryAfterSeconds, ...answer }, index) =>
    exchanges[index]?.expected.retryAfterSeconds === undefined || retryAfterSeconds === undefined
      ? answer
      : { ...answer, retryAfterSeconds },
  );
}

const isAcceptedWhole = ({ do: kind }: Exchange['command'], { verdict }: Verdict): boolean =>
  kind === 'present' && (verdict === 'ok' || verdict === 'signature_invalid');

describe('whole', () => {
  test.each(SCENARIOS)('$title', async (scenario) => {
    const exchanges = exchangesOf(scenario);
    const answers = asExpected(await answersTo(exchanges), exchanges);
    expect(answers).toEqual(exchanges.map(({ expected }) => expected));
  });
});

test('gives the same verdicts to bodies that come byte by byte', async () => {
  for (const scenario of SCENARIOS) {
    const exchanges = exchangesOf(scenario).flatMap((exchange) =>
      isAcceptedWhole(exchange.command, exchange.expected) ? inPieces(exchange, 1) : [exchange],
    );
    const answers = asExpected(await answersTo(exchanges), exchanges);
    expect(answers, scenario.title).toEqual(exchanges.map(({ expected }) => expected));
  }
});

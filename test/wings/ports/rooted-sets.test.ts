import { execFileSync } from 'node:child_process';
import { expect, test, vi } from 'vitest';
import { ROOTED_SETS } from '../../vectors/read.ts';
import { openPorts } from './open-ports.ts';

vi.setConfig({ testTimeout: 120_000 });

test.each(openPorts())(
  '$name judges rooted key sets by the vectors',
  ({ conform: [command = '', ...args] }) => {
    const questions = ROOTED_SETS.map(({ baseUrl, internId, roots, answers }) => ({
      do: 'rooted',
      url: `${baseUrl}/interns/${internId}/daemon/jwks.json`,
      roots,
      answers,
    }));
    const input = questions.map((question) => `${JSON.stringify(question)}\n`).join('');
    const output = execFileSync(command, args, { input, encoding: 'utf8' }).trimEnd().split('\n');
    const verdicts = output.map((line) => JSON.parse(line).verdicts);
    const untils = output.map((line) => JSON.parse(line).untils);
    ROOTED_SETS.forEach(({ title, answers }, index) => {
      const expected = answers.map((answer, at) => {
        const said = verdicts[index]?.[at];
        return said === answer.or ? said : answer.expect;
      });
      expect([title, verdicts[index]]).toEqual([title, expected]);
      expect([title, ...answers.map(({ until }, at) => until && untils[index]?.[at])]).toEqual([
        title,
        ...answers.map(({ until }) => until),
      ]);
    });
  },
);

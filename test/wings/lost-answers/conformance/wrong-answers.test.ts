import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startKeyServer } from '../../../conformance/daemon/key-server.ts';
import { runSuite, startedBy } from '../../../conformance/daemon/suite.ts';

const DAEMON = fileURLToPath(new URL('wrong-answers.mjs', import.meta.url));
const LISTED: [title: string, sentence: string][] = JSON.parse(
  execFileSync(process.execPath, [DAEMON, '--list'], { encoding: 'utf8' }),
);

/** The others are for the lab: each needs a process and ten seconds. */
const ALWAYS = new Set([
  'right',
  'is certain after a start',
  'destroys what another asks for',
  'gives every answer with 200',
  'never says that a call runs',
  'records a call when it has ended',
]);
const TRIED = LISTED.filter(([title]) => process.env['MUTANTS'] === 'all' || ALWAYS.has(title));

test.concurrent.for(TRIED)('a daemon that is or does: %s', { timeout: 60_000 }, async ([title, sentence]) => {
  await using keyServer = await startKeyServer();
  const daemons = startedBy([process.execPath, DAEMON, title, '{intern}', '{jwks}'], keyServer, 'ignore');
  const options = { path: '/api/invoke', bodyBytesMax: 100_000, isFetch: false, only: undefined };
  const leftOut = ['slow', 'key sets', 'requests', 'races'] as const;
  const outcomes = await runSuite(daemons, { ...options, answers: true, proofs: true, leftOut }, () => {});
  const failed = outcomes.flatMap(({ difference, sentence: id }) => (difference === undefined ? [] : [id]));
  if (sentence === '') expect(failed).toEqual([]);
  else expect(failed).toContain(sentence);
});

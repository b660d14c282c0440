import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { INTERN_ID } from '../../vectors/scenario.ts';
import { startKeyServer } from './key-server.ts';
import { isRequired, linesOf } from './lines.ts';
import { type Outcome, runningAt, runSuite, startedBy } from './suite.ts';

const USAGE = `Usage: npm run conformance -- --daemon [options] URL
       npm run conformance -- --daemon [options] -- <command with {intern} and {jwks}> …
       npm run conformance -- --runtimes
  --path PATH           the guarded route; /api/invoke by default
  --body-bytes-max N    the largest body that the daemon accepts; 1,000,000 by default
  --fetch               the daemon is of class "request": what its server hides is "unseen"
  --answers             the daemon keeps answers (N14 to N23), and its handler obeys README.md
  --proofs              it has an answer key and proves them, too (P1 to P6)
  --keys-port N         where the key set is served; by default 9000 for a daemon with a URL, otherwise a free port
  --only TEXT           only checks whose sentence or title contains it
  --json FILE           also write the results
test/conformance/README.md describes them.`;

/** Where a daemon with an address of its own fetches its key set, so that it can be started before the suite. */
const KEYS_PORT = 9000;

/** One line per sentence of SPEC.md about verifiers, for a daemon of any language. Returns the exit status. */
export async function testDaemon(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      path: { type: 'string', default: '/api/invoke' },
      'body-bytes-max': { type: 'string', default: '1000000' },
      'keys-port': { type: 'string' },
      fetch: { type: 'boolean', default: false },
      answers: { type: 'boolean', default: false },
      proofs: { type: 'boolean', default: false },
      only: { type: 'string' },
      json: { type: 'string' },
    },
  });
  const [first] = positionals;
  if (first === undefined) {
    console.error(USAGE);
    return 2;
  }
  const isUrl = /^http:\/\//.test(first);
  await using keyServer = await startKeyServer(Number(values['keys-port'] ?? (isUrl ? KEYS_PORT : 0)));
  const daemons = isUrl ? runningAt(new URL(first), keyServer) : startedBy(positionals, keyServer);
  if (isUrl) console.log(`intern ${INTERN_ID}, key set ${keyServer.firstUrl}, daemon ${first}`);
  const { path, only, answers, proofs } = values;
  const options = {
    path,
    only,
    answers,
    proofs,
    bodyBytesMax: Number(values['body-bytes-max']),
    isFetch: values.fetch,
  };
  let outcomes: readonly Outcome[];
  try {
    outcomes = await runSuite(daemons, options, (text) => console.log(text));
  } catch (error) {
    console.error(`Cannot test the daemon: ${error instanceof Error ? error.message : error}`);
    return 2;
  }
  const lines = linesOf(outcomes);
  for (const { id, state, detail } of lines) console.log(`${id.padEnd(4)} ${state.padEnd(8)} ${detail}`);
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ sentences: lines, outcomes }, null, 1)}\n`);
  const bad = outcomes.filter(({ difference, isUnseen }) => difference !== undefined && isUnseen !== true);
  const failed = bad.filter(({ sentence }) => isRequired(sentence));
  for (const { sentence, title, difference } of bad) console.log(`${sentence} ${title}: ${difference}`);
  const unseen = outcomes.filter(({ isUnseen }) => isUnseen).length;
  console.log(
    `${outcomes.length - bad.length - unseen} of ${outcomes.length} checks passed, ${unseen} cannot be seen`,
  );
  return failed.length === 0 ? 0 : 1;
}

import { execFileSync } from 'node:child_process';

/** The subjects of new commits: `scope: imperative`, at most 72 characters. Older ones are as they are. */
const SINCE = '2026-11-23T00:00:00Z';
const SUBJECT = /^(?=.{1,72}$)[a-z0-9][a-z0-9, ./_-]*: \S.*[^.]$/;

const log = execFileSync('git', ['log', '--no-merges', `--since=${SINCE}`, '--format=%h %s'], {
  encoding: 'utf8',
});
const faults = log
  .split('\n')
  .filter((line) => line !== '' && !SUBJECT.test(line.slice(line.indexOf(' ') + 1)));
if (faults.length > 0) {
  console.error(`Expected "scope: imperative" of at most 72 characters:\n${faults.join('\n')}`);
  process.exit(1);
}

import { spawnSync } from 'node:child_process';
import { systemErrorCode } from '@ori/faces/system-error';
import { CliError } from '../core/errors.ts';

/**
 * What the `jq` of this computer makes of a value, as lines without quotation marks. Throws CliError `usage` with jq's own words if it
 * refuses the filter, and if there is no jq.
 */
export function filterBy(filter: string, value: unknown): string[] {
  // The space: a filter that begins with a hyphen is no option.
  const { error, status, stdout, stderr } = spawnSync('jq', ['--raw-output', ` ${filter}`], {
    input: JSON.stringify(value),
    encoding: 'utf8',
    maxBuffer: Number.POSITIVE_INFINITY,
  });
  if (systemErrorCode(error) === 'ENOENT')
    throw new CliError('usage', { detail: '--jq needs the program jq.', next: 'Install jq.' });
  // jq refuses a filter before it has read the input: that is an EPIPE, too.
  if (error !== undefined && !status) throw error;
  if (status === 0) return stdout === '' ? [] : stdout.replace(/\n$/, '').split('\n');
  throw new CliError('usage', { detail: stderr.trim(), next: 'See: jq --help' });
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { CliError } from '../core/errors.ts';

/**
 * What the program jq makes of a value: its lines, strings without quotes.
 *
 * @throws CliError `usage` where there is no jq, and for a filter that it refuses
 */
export async function filter(expression: string, value: unknown): Promise<string[]> {
  const child = spawn('jq', ['--raw-output', expression], { stdio: 'pipe' });
  // A filter that is refused is not fed.
  child.stdin.on('error', () => {}).end(JSON.stringify(value));
  const outputs = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await once(child, 'close').catch(() => {
    throw new CliError('usage', {
      detail: '--jq needs the program jq, which is not here.',
      next: 'Install jq, or leave --jq out.',
    });
  });
  const [output, problem] = await outputs;
  if (code !== 0) {
    throw new CliError('usage', {
      detail: problem.split('\n')[0] || 'jq failed.',
      next: 'See: https://jqlang.org/manual',
    });
  }
  return output.replace(/\n$/, '').split('\n');
}

import { KEK_METRIC } from '@ori/sealing/service-ring';
import type { Command } from './command.ts';
import { PartialFailure, UsageError } from './failure.ts';

export interface InstanceOptions {
  instances?: string | undefined;
  unchecked?: true | undefined;
}

const TIMEOUT_MS = 3000;

export function addInstances(command: Command): Command {
  return command
    .option('--instances <urls>', 'ops URLs of all instances of the service, separated by commas')
    .option(
      '--unchecked',
      'do not ask the instances; an instance without the key cannot open rows sealed under it',
    );
}

/**
 * Checks that every instance `holds` the KEK, so that each of them can open every row sealed under it; or `seals` under it,
 * so that none of them seals another row under a former KEK.
 *
 * @throws UsageError without addresses; PartialFailure with the instances that do not, or do not answer
 */
export async function requireInstances(
  use: 'holds' | 'seals under',
  kid: string,
  { instances, unchecked }: InstanceOptions,
): Promise<void> {
  if (unchecked) return;
  const urls = (instances ?? '').split(',').map((url) => url.trim());
  if (!urls.every((url) => URL.canParse(url))) {
    throw new UsageError(
      'Give the ops URLs of all instances with --instances.',
      'For example --instances http://signer-1:9081,http://signer-2:9081, or --unchecked if none runs.',
    );
  }
  const answers = await Promise.all(urls.map(async (url) => ({ url, kids: await kidsOf(url, use) })));
  const lacking = answers.filter(({ kids }) => !kids?.includes(kid));
  if (lacking.length === 0) return;
  const why = lacking.map(
    ({ url, kids }) => `${url} ${kids === undefined ? 'does not answer' : `${use} ${kids.join(', ')}`}`,
  );
  throw new PartialFailure(
    `Not every instance ${use} ${kid}: ${why.join('; ')}.`,
    'Nothing was changed. Install the ring on every instance first; a running instance reads it within two seconds.',
  );
}

/** The kids that the instance reports for this use; undefined without a usable answer. */
async function kidsOf(url: string, use: 'holds' | 'seals under'): Promise<string[] | undefined> {
  try {
    const answer = await fetch(new URL('/metrics', url), { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!answer.ok) return undefined;
    const lines = (await answer.text()).split('\n').filter((line) => line.startsWith(`${KEK_METRIC}{`));
    const wanted = use === 'holds' ? lines : lines.filter((line) => line.includes('use="seals"'));
    return wanted.flatMap((line) => /kid="([A-Za-z0-9._-]{1,64})"/.exec(line)?.[1] ?? []);
  } catch {
    return undefined;
  }
}

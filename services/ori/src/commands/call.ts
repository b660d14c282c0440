import { CliError } from '../core/errors.ts';
import type { Context } from './context.ts';
import { type AnswerOptions, presentAnswer } from './daemon-answer.ts';
import { type CallOptions, prepareCall } from './signed-call.ts';

/** Hashes the body, requests a proof for the digest, sends the same bytes to the daemon, and prints its answer. */
export async function call(
  context: Context,
  intern: string,
  path: string,
  options: CallOptions & AnswerOptions,
): Promise<void> {
  if (context.json && options.output !== undefined) {
    throw new CliError('usage', {
      detail: '--json prints the answer as JSON, so there is nothing for --output.',
    });
  }
  await using ready = await prepareCall(context, intern, path, options);
  const { answer } = await ready.send();
  await presentAnswer(context, answer, ready.origin, options);
}

import type { Context } from './context.ts';
import { presentAnswer } from './daemon-answer.ts';
import { type CallOptions, prepareCall } from './signed-call.ts';

/** Hashes the body, has the digest signed, sends the same bytes to the daemon, and prints its answer. */
export async function call(
  context: Context,
  internId: string,
  path: string,
  options: CallOptions,
): Promise<void> {
  await using ready = await prepareCall(context, internId, path, options);
  const { answer } = await ready.send();
  await presentAnswer(context, answer, ready.origin);
}

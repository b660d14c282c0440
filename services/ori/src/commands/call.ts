import { CliError } from '../core/errors.ts';
import { type AnswerOptions, isEventStream, presentAnswer } from '../delivery/daemon-answer.ts';
import { type CallOptions, prepareCall } from '../delivery/signed-call.ts';
import type { Profile } from '../session/profile.ts';

/** Hashes the body, requests a proof for the digest, sends the same bytes to the daemon, and prints its answer. */
export async function call(
  profile: Profile,
  intern: string,
  path: string,
  options: CallOptions & AnswerOptions,
): Promise<void> {
  if (profile.json && options.output !== undefined) {
    throw new CliError('usage', {
      detail: '--json prints the answer as JSON, so there is nothing for --output.',
    });
  }
  const isShown = profile.stdout.isTTY === true && !profile.json && options.output === undefined;
  await using ready = await prepareCall(profile, intern, path, options, {
    // A person reads it as it comes, and is told at its end.
    isPassedOn: (answer) => isShown && isEventStream(answer),
  });
  const { answer } = await ready.send();
  await presentAnswer(profile, answer, ready.origin, options);
}

import { text } from 'node:stream/consumers';
import { requestApi } from '../adapters/api.ts';
import { bodyOfStream } from '../adapters/request-body.ts';
import { CliError } from '../core/errors.ts';
import { sessionOfToken } from '../core/given-token.ts';
import { refusalOfGivenToken } from '../core/refusal.ts';
import type { Session } from '../core/session.ts';
import { GIVEN } from '../core/signed-as.ts';
import type { Trust } from '../core/trust.ts';
import { credentialOf } from '../session/access.ts';
import type { Profile } from '../session/profile.ts';

const TOKEN_BYTES_MAX = 64 * 1024;

/** An access token from stdin that the API accepts. */
export async function takeToken(context: Profile, baseUrl: string): Promise<Session> {
  const { stdin, interrupted } = context;
  if (stdin.isTTY) throw new CliError('token_unusable', { why: 'stdin is a terminal' });
  await using body = await bodyOfStream(stdin, 'stdin', interrupted);
  if (body.bytes > TOKEN_BYTES_MAX) throw new CliError('token_unusable', { why: 'it is too long' });
  const session = sessionOfToken(await text(body.chunks()), baseUrl, context.nowSeconds());
  // The smallest request that needs a token.
  const asked = { method: 'GET', credential: await credentialOf(context, session) };
  const answer = await requestApi(`${baseUrl}/interns?limit=1`, asked, interrupted);
  if (answer.status === 401) throw refusalOfGivenToken(baseUrl, answer);
  return session;
}

/** The person may give a token of another account. */
export function forgetGiven({ users: { [GIVEN]: _before, ...users } = {} }: Trust): Partial<Trust> {
  return { users };
}

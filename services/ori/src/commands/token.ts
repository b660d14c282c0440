import { credentialOf, freshSession } from './access.ts';
import type { Context } from './context.ts';

/** Prints an access token that is valid for a while, for another program. */
export async function token(context: Context): Promise<void> {
  const session = await freshSession(context);
  const { accessToken, key } = await credentialOf(context, session);
  if (key !== undefined) {
    context.terminal.note(
      'This token is bound to a key, so the API refuses it without a proof for each request: ori headers METHOD URL',
    );
  }
  context.terminal.result({ access_token: accessToken, bound: key !== undefined }, accessToken);
}

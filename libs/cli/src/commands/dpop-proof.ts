import { requestOnce } from '../adapters/api.ts';
import { CliError } from '../core/errors.ts';
import { credentialOf, freshSession } from './access.ts';
import type { Context } from './context.ts';

/**
 * Prints the DPoP proof for one request that another program will send, including the server's nonce. Throws CliError
 * `usage` if the session is not bound to a key, or if the URL does not belong to the session's API.
 */
export async function dpopProof(context: Context, method: string, address: string): Promise<void> {
  const session = await freshSession(context);
  const credential = await credentialOf(context, session);
  const { accessToken, key } = credential;
  if (key === undefined) throw usage('The session is not bound to a key.');
  if (!/^[A-Z]+$/.test(method)) throw usage('Write the method in capitals, such as POST.');
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.origin !== new URL(session.base_url).origin)
    throw usage(`The address is not on ${session.base_url}.`);
  // No server accepts an empty nonce: it only answers with its own.
  key.nonce = '';
  const answer = await requestOnce(url.href, { method: method as 'GET', credential }, context.interrupted);
  const nonce = answer.headers['dpop-nonce'];
  key.nonce = typeof nonce === 'string' ? nonce : undefined;
  context.terminal.print(key.prove(method, url, accessToken));
}

const usage = (detail: string) =>
  new CliError('usage', { detail, next: "For example: ori dpop-proof POST 'https://api.example.com/v1/…'" });

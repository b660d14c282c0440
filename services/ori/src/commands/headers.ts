import { requestOnce } from '../adapters/api.ts';
import { bodyOf } from '../adapters/request-body.ts';
import { CliError } from '../core/errors.ts';
import { type BodyOptions, takeBody } from '../delivery/body-options.ts';
import { credentialOf, freshSession } from '../session/access.ts';
import type { Profile } from '../session/profile.ts';

/**
 * Prints the headers that authorize one API request of another program, as `curl -H @FILE` reads them: the access token,
 * and the DPoP proof that it needs if the session is bound to a key, with the server's nonce. The proof covers the
 * content that the options name, without any of them no content. Throws CliError `usage` if the URL does not belong to
 * the session's API; otherwise as `takeBody` does.
 */
export async function headers(
  profile: Profile,
  method: string,
  address: string,
  options: BodyOptions,
): Promise<void> {
  const session = await freshSession(profile);
  const credential = await credentialOf(profile, session);
  const { accessToken, key } = credential;
  if (!/^[A-Z]+$/.test(method)) throw usage('Write the method in capitals, such as POST.');
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !url.href.startsWith(`${session.base_url}/`))
    throw usage(`The address is not below ${session.base_url}.`);
  const lines: Record<string, string> = { authorization: `Bearer ${accessToken}` };
  if (key !== undefined) {
    const contentSha256 = await digestOf(profile, options);
    // No server accepts an empty nonce: it only answers with its own.
    key.nonce = '';
    const answer = await requestOnce(url.href, { method, credential }, profile.interrupted);
    const nonce = answer.headers['dpop-nonce'];
    key.nonce = typeof nonce === 'string' ? nonce : undefined;
    lines['authorization'] = `DPoP ${accessToken}`;
    lines['dpop'] = key.prove(method, url, accessToken, contentSha256);
  }
  profile.terminal.result(lines, ...Object.entries(lines).map(([name, value]) => `${name}: ${value}`));
}

/** In base64url. */
async function digestOf(profile: Profile, options: BodyOptions): Promise<string> {
  const isGiven = [options.data, options.dataRaw, options.file].some((given) => given !== undefined);
  await using body = isGiven ? await takeBody(profile, options) : bodyOf(Buffer.alloc(0));
  return Buffer.from(body.sha256, 'hex').toString('base64url');
}

const usage = (detail: string) =>
  new CliError('usage', {
    detail,
    next: "For example: ori headers POST 'https://api.example.com/v1/…' --file body.json",
  });

/** Prints an access token that is valid for a while, for another program. */
export async function token(profile: Profile): Promise<void> {
  const session = await freshSession(profile);
  const { accessToken, key } = await credentialOf(profile, session);
  if (key !== undefined) {
    profile.terminal.note(
      'This token is bound to a key, so the API refuses it without a proof for each request: ori headers METHOD URL',
    );
  }
  profile.terminal.result({ access_token: accessToken, bound: key !== undefined }, accessToken);
}

import { parseJwkSet, type VerificationKey } from '@ori/proof';
import { parseJson } from '../core/parse-json.ts';
import { requestApi } from './api.ts';

/**
 * The public keys of an intern, which need no session; undefined if the server has no key set there.
 * Throws the CliErrors of a request to the API.
 */
export async function publishedKeys(
  baseUrl: string,
  internId: string,
  signal: AbortSignal,
): Promise<readonly VerificationKey[] | undefined> {
  const url = `${baseUrl}/interns/${internId}/daemon/jwks.json`;
  const { status, body } = await requestApi(url, { method: 'GET' }, signal);
  try {
    return status === 200 ? parseJwkSet(parseJson(body)) : undefined;
  } catch {
    return undefined;
  }
}

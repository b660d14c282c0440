import { parseJwkSet, type VerificationKey } from '@ori/proof';
import { parseJson } from '../core/parse-json.ts';
import { requestApi } from './api.ts';

/** What the API publishes of an intern. */
export interface KeySet {
  readonly keys: readonly VerificationKey[];
  readonly body: Buffer;
  /** The value of `x-ori-key-set`. */
  readonly statement: string | null;
}

/**
 * The key set of an intern, which needs no session; undefined if the server has none there.
 * Throws the CliErrors of a request to the API.
 */
export async function readKeySet(
  baseUrl: string,
  internId: string,
  signal: AbortSignal,
): Promise<KeySet | undefined> {
  const url = `${baseUrl}/interns/${internId}/daemon/jwks.json`;
  const { status, headers, body } = await requestApi(url, { method: 'GET' }, signal);
  if (status !== 200) return undefined;
  const statement = headers['x-ori-key-set'];
  try {
    return {
      keys: parseJwkSet(parseJson(body)),
      body: Buffer.from(body),
      statement: typeof statement === 'string' ? statement : null,
    };
  } catch {
    return undefined;
  }
}

import { TlogError } from '../tlog-error.ts';

/** Transport to a log; an answer larger than `bytesMax` is an error. */
export interface LogTransport {
  /** @returns undefined for 404 */
  get(path: string, bytesMax: number): Promise<Uint8Array | undefined>;
  post(path: string, body: string, bytesMax: number): Promise<Uint8Array>;
}

/** @param url the log's prefix */
export function fetchLog(url: string, timeoutMs: number): LogTransport {
  const prefix = url.replace(/\/$/, '');

  async function ask(path: string, bytesMax: number, init: RequestInit): Promise<Uint8Array | undefined> {
    let response: Response;
    try {
      response = await fetch(`${prefix}/${path}`, {
        ...init,
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (response.status === 404) {
        await response.body?.cancel();
        return undefined;
      }
      if (response.ok) return await readBounded(response, bytesMax);
      await response.body?.cancel();
    } catch (cause) {
      throw new TlogError('unavailable', `the log did not answer for ${path}`, { cause });
    }
    throw new TlogError('unavailable', `the log answered ${response.status} for ${path}`);
  }

  return {
    get: (path, bytesMax) => ask(path, bytesMax, {}),
    async post(path, body, bytesMax) {
      const headers = { 'content-type': 'application/json' };
      const answer = await ask(path, bytesMax, { method: 'POST', body, headers });
      if (answer === undefined) throw new TlogError('unavailable', `the log answered 404 for ${path}`);
      return answer;
    },
  };
}

/** @throws Error if the answer is larger than `bytesMax`; the rest of it is not read */
export async function readBounded(response: Response, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Error(`the answer is larger than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

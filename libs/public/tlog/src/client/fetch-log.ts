import { setTimeout as pause } from 'node:timers/promises';
import { TlogError } from '../tlog-error.ts';

/** How often a request is made again that came too soon (429), as many do while a whole log is read. */
const REPEATS_MAX = 5;
const RETRY_AFTER_SECONDS_MAX = 2;

/** Transport to a log; an answer larger than `bytesMax` is an error. */
export interface LogTransport {
  /** @returns undefined for 404 */
  get(path: string, bytesMax: number): Promise<Uint8Array | undefined>;
  post(path: string, body: string, bytesMax: number): Promise<Uint8Array>;
}

/** @param url the log's prefix */
export function fetchLog(url: string, timeoutMs: number): LogTransport {
  const prefix = url.replace(/\/$/, '');

  async function ask(
    path: string,
    bytesMax: number,
    init: RequestInit,
    repeats = 0,
  ): Promise<Uint8Array | undefined> {
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
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    if (
      response.status === 429 &&
      repeats < REPEATS_MAX &&
      seconds >= 0 &&
      seconds <= RETRY_AFTER_SECONDS_MAX
    ) {
      await pause(seconds * 1000);
      return ask(path, bytesMax, init, repeats + 1);
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

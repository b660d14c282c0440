import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { unescape as decode } from 'node:querystring';
import { ConfigError } from '@ori/runtime/config';
import { readSecretFile, SecretFileError } from '@ori/runtime/secret-file';
import { systemErrorCode } from '@ori/runtime/system-error-code';
import { z } from 'zod';
import { type KeyWrapper, KmsError } from './key-wrapper.ts';

const ANSWER_BYTES_MAX = 64 * 1024;
const TIMEOUT_MS = 5000;

/** The name of the only key that an agent on a Unix socket serves. */
export const AGENT_PATH = '/v1/transit/keys/kek';

export const KMS_URL_FORMS = 'https://…/v1/transit/keys/NAME or unix:/path/of/a/socket';

export interface TransitConfig {
  /** The address of the key in a transit engine, or `unix:` and the socket of an agent. */
  readonly kmsUrl: string;
  /** The file of the token, read for each call, so that a renewed token is used at once. */
  readonly kmsTokenFile?: string | undefined;
  /** For one call, from connecting to the last byte. */
  readonly timeoutMs?: number | undefined;
}

/** A file of private keys, and the KMS that wrapped them, if any. */
export interface WrappedFile {
  readonly path: string;
  /** The setting or option that names the file, for problems. */
  readonly variable: string;
  readonly kmsUrl?: TransitConfig['kmsUrl'] | undefined;
  readonly kmsTokenFile?: TransitConfig['kmsTokenFile'];
}

interface Endpoint {
  readonly send: typeof requestHttp;
  readonly to: { readonly socketPath: string } | { readonly host: string; readonly port: string };
  readonly path: string;
}

/** Plain http only to this machine: the answer contains the KEK. */
export function isKmsUrl(text: string): boolean {
  return endpointOf(text) !== undefined;
}

function endpointOf(text: string): Endpoint | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, port, pathname, search, hash, username, password } = new URL(text);
  if ([search, hash, username, password].some((part) => part !== '')) return undefined;
  if (protocol === 'unix:' && /^\/./.test(pathname)) {
    // Unlike decodeURIComponent, it takes a percent sign in a name as it is.
    return { send: requestHttp, to: { socketPath: decode(pathname) }, path: AGENT_PATH };
  }
  if (!/^(?:\/[\w.-]+)+\/keys\/[\w.-]+$/.test(pathname)) return undefined;
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol === 'https:') return { send: requestHttps, to: { host, port: port || '443' }, path: pathname };
  const isLoopback = /^(?:127(?:\.\d+){3}|::1|localhost)$/.test(host);
  return protocol === 'http:' && isLoopback
    ? { send: requestHttp, to: { host, port: port || '80' }, path: pathname }
    : undefined;
}

const encrypted = z.object({ data: z.object({ ciphertext: z.string().min(1).max(4096) }) });
const decrypted = z.object({ data: z.object({ plaintext: z.base64() }) });

/**
 * The transit engine of OpenBao and Vault, or an `ori-kms-agent`, which speaks the same two calls: `POST …/encrypt/NAME`
 * and `POST …/decrypt/NAME`. Each call ends within five seconds.
 *
 * @throws TypeError for an invalid address
 */
export function createTransit({ kmsUrl, kmsTokenFile, timeoutMs = TIMEOUT_MS }: TransitConfig): KeyWrapper {
  const endpoint = endpointOf(kmsUrl);
  if (endpoint === undefined) throw new TypeError(`expected ${KMS_URL_FORMS}`);
  const ask = async <T>(operation: string, body: object, shape: z.ZodType<T>): Promise<T> => {
    const token = kmsTokenFile === undefined ? undefined : readToken(kmsTokenFile);
    const answer = await post(endpoint, operation, body, { token, timeoutMs });
    try {
      return shape.parse(JSON.parse(answer.toString()));
    } catch {
      throw new KmsError('unusable', 'the KMS returned a malformed answer');
    } finally {
      answer.fill(0);
    }
  };
  return {
    async wrap(kek) {
      const plaintext = Buffer.from(kek).toString('base64');
      return (await ask('encrypt', { plaintext }, encrypted)).data.ciphertext;
    },
    async unwrap(ciphertext) {
      return Buffer.from((await ask('decrypt', { ciphertext }, decrypted)).data.plaintext, 'base64');
    },
  };
}

function readToken(path: string): string {
  try {
    return readSecretFile(path).trim();
  } catch (error) {
    if (!(error instanceof SecretFileError)) throw error;
    throw new KmsError('refused', `no token for the KMS: ${error.message}`);
  }
}

async function post(
  { send, to, path }: Endpoint,
  operation: string,
  body: object,
  { token, timeoutMs }: { readonly token: string | undefined; readonly timeoutMs: number },
): Promise<Buffer> {
  const signal = AbortSignal.timeout(timeoutMs);
  const headers = {
    'Content-Type': 'application/json',
    'X-Vault-Request': 'true',
    ...(token === undefined ? {} : { 'X-Vault-Token': token }),
  };
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      const options = { ...to, method: 'POST', headers, signal, agent: false };
      const request = send({ ...options, path: path.replace('/keys/', `/${operation}/`) }, (response) => {
        const { statusCode = 0 } = response;
        if (statusCode !== 200) {
          response.destroy();
          const isTheirs = statusCode === 429 || statusCode >= 500;
          return reject(new KmsError(isTheirs ? 'unavailable' : 'refused', `the KMS answered ${statusCode}`));
        }
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes <= ANSWER_BYTES_MAX) return void chunks.push(chunk);
          response.destroy();
          reject(new KmsError('unusable', `the KMS returned more than ${ANSWER_BYTES_MAX} bytes`));
        });
        response.on('end', () => resolve(Buffer.concat(chunks)));
        response.on('error', reject);
      });
      request.on('error', reject);
      request.end(JSON.stringify(body));
    });
  } catch (error) {
    if (error instanceof KmsError) throw error;
    if (signal.aborted) {
      throw new KmsError('unavailable', `the KMS did not answer within ${timeoutMs} ms`);
    }
    throw new KmsError('unavailable', `cannot reach the KMS (${systemErrorCode(error)})`);
  }
}

/** The text of the file. @throws ConfigError, which quotes nothing of it */
export function readSecret({ path, variable }: WrappedFile): string {
  try {
    return readSecretFile(path);
  } catch (error) {
    throw error instanceof SecretFileError ? new ConfigError([`${variable}: ${error.message}`]) : error;
  }
}

import { readSecretFile, type SecretFileError } from '@ori/runtime/secret-file';
import { systemErrorCode } from '@ori/runtime/system-error-code';
import { z } from 'zod';
import { type KeyWrapper, KmsError } from '../key-wrapper.ts';
import { type Endpoint, endpointOf, KMS_URL_FORMS, type TransitConfig } from '../kms-address.ts';

const ANSWER_BYTES_MAX = 64 * 1024;
const TIMEOUT_MS = 5000;

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
    const { message } = error as SecretFileError;
    throw new KmsError('refused', `no token for the KMS: ${message}`);
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
      const closed = () => reject(new KmsError('unavailable', 'the KMS closed the connection'));
      const request = send({ ...options, path: path.replace('/keys/', `/${operation}/`) }, (response) => {
        request.off('close', closed);
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
      // Of an answer that switches protocols, Node tells nothing else.
      request.on('close', closed);
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

import { DecryptCommand, EncryptCommand, KMSClient, KMSServiceException } from '@aws-sdk/client-kms';
import { KmsError } from '@ori/sealing/key-wrapper';
import type { AgentKey } from './serve-transit.ts';

const TIMEOUT_MS = 4000;
const VERSION = 'aws:v1:';

/** The encryption context: bound to each ciphertext, logged by CloudTrail, and usable in a key policy. */
const CONTEXT = { 'ori:purpose': 'kek' };

/** A symmetric key of AWS KMS. The SDK finds region, endpoint and credentials in its usual places. */
export function createAwsKms({ keyId }: { readonly keyId: string }): AgentKey {
  const client = new KMSClient({ maxAttempts: 2 });
  const facts = { KeyId: keyId, EncryptionContext: CONTEXT };
  return {
    async wrap(kek, signal) {
      const command = new EncryptCommand({ ...facts, Plaintext: kek });
      const { CiphertextBlob } = await ask(signal, (abortSignal) => client.send(command, { abortSignal }));
      return VERSION + Buffer.from(required(CiphertextBlob)).toString('base64');
    },
    async unwrap(wrapped, signal) {
      if (!wrapped.startsWith(VERSION)) throw new KmsError('refused', 'not wrapped by this agent');
      const CiphertextBlob = Buffer.from(wrapped.slice(VERSION.length), 'base64');
      const command = new DecryptCommand({ ...facts, CiphertextBlob });
      const { Plaintext } = await ask(signal, (abortSignal) => client.send(command, { abortSignal }));
      return Buffer.from(required(Plaintext));
    },
  };
}

async function ask<T>(caller: AbortSignal, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
  try {
    return await send(AbortSignal.any([caller, AbortSignal.timeout(TIMEOUT_MS)]));
  } catch (error) {
    const name = error instanceof Error ? error.name : 'unknown';
    const isRefusal = error instanceof KMSServiceException && error.$fault === 'client';
    throw new KmsError(isRefusal ? 'refused' : 'unavailable', `AWS KMS: ${name}`);
  }
}

function required(bytes: Uint8Array | undefined): Uint8Array {
  if (bytes === undefined) throw new KmsError('unusable', 'AWS KMS returned an answer without data');
  return bytes;
}

import { expect, test } from 'vitest';
import { engine as portable } from './engine-portable.ts';
import { admitPublicKey, bodySha256, encodeSignature, signingInputV1, signingInputV2 } from './index.ts';
import { createSigningKey, selfTest } from './signing.ts';
import { createVerificationKey } from './verification-key.ts';

const key = createSigningKey(
  Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex'),
);
const body = new TextEncoder().encode('{"prompt":"hello"}');
const v1 = { internId: 'int_7Qm2', timestamp: 1789000000, user: 'user_2abc', bodySha256: bodySha256(body) };
const v2 = { ...v1, nonce: 'AAECAwQFBgcICQoLDA0ODw', method: 'POST', path: '/api/invoke' } as const;

const signatures = [
  [
    'v1',
    signingInputV1(v1),
    '13:ori-invoke-v1,8:int_7Qm2,10:1789000000,9:user_2abc,64:8a44725210b9dcd4fefd9f0eca07b70ae45e69274a3105fb25eb426a2cf8bbf4,',
    'PrB6phrL9HxAHbXnGkePuzx0EeZwsIX6IfF1BesasFEm7W9JmHk/2aI0IFOkyHDIaCqMOjP34022pQkecmDrDA==',
  ],
  [
    'v2',
    signingInputV2(v2),
    '13:ori-invoke-v2,8:int_7Qm2,10:1789000000,22:AAECAwQFBgcICQoLDA0ODw,9:user_2abc,4:POST,11:/api/invoke,64:8a44725210b9dcd4fefd9f0eca07b70ae45e69274a3105fb25eb426a2cf8bbf4,',
    'zMyIKlNJgAaBSg8nfMAE6m/6KpahQl/Vxr5un34nPzqZoo5O2fHUhGpO3tu+TVLk1hOThvkmbukkANvDcw8IBg==',
  ],
] as const;

test.each(signatures)(
  'reproduces the %s bytes and signature of the specification',
  (_, input, bytes, signature) => {
    expect(new TextDecoder().decode(input)).toBe(bytes);
    const made = key.sign(input);
    expect(encodeSignature(made)).toBe(signature);
    expect(admitPublicKey(key.publicKey).verify(input, made)).toBe(true);
    expect(createVerificationKey(portable, key.publicKey, {}).verify(input, made)).toBe(true);
  },
);

test('the signing key passes its self-test', () => {
  expect(Buffer.from(key.publicKey).toString('base64url')).toBe(
    '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  );
  expect(() => selfTest(key, key.publicKey)).not.toThrow();
});

import { ConfigError } from '@ori/runtime/config';
import { expect, it } from 'vitest';
import { loadAgentConfig } from './config.ts';

const pkcs11 = {
  KMS_AGENT_SOCKET: '/run/ori-kms/kms.sock',
  KMS_AGENT_BACKEND: 'pkcs11',
  KMS_AGENT_PKCS11_MODULE: '/usr/lib/softhsm/libsofthsm2.so',
  KMS_AGENT_PKCS11_TOKEN: 'ori',
  KMS_AGENT_PKCS11_PIN: '1234',
  KMS_AGENT_PKCS11_KEY_ID: '0a',
};

it('needs all settings of its backend', () => {
  expect(loadAgentConfig(pkcs11)).toMatchObject({ key: { pkcs11: { keyId: '0a', tool: 'pkcs11-tool' } } });
  for (const name of Object.keys(pkcs11)) {
    expect(() => loadAgentConfig({ ...pkcs11, [name]: '' })).toThrow(ConfigError);
  }
  expect(() => loadAgentConfig({ ...pkcs11, KMS_AGENT_BACKEND: 'aws' })).toThrow('KMS_AGENT_AWS_KEY_ID');
  expect(() => loadAgentConfig({ ...pkcs11, KMS_AGENT_PKCS11_KEY_ID: 'kek' })).toThrow('hexadecimal');
});

import { execFileSync } from 'node:child_process';
import { openRoom } from '@ori/test-env/room';
import { expect, it } from 'vitest';
import { createToken, findHsm } from '../../../test/wings/kms/kms.ts';
import { loadAgentConfig } from './config.ts';
import { createPkcs11 } from './pkcs11.ts';

const hsm = findHsm();

it.skipIf(hsm === undefined)('tries a PIN that the token refused only once', async () => {
  if (hsm === undefined) return;
  await using room = await openRoom('ori-pin');
  const made = createToken(hsm, room);
  const environment = { ...made, PATH: process.env['PATH'] };
  const { KMS_AGENT_PKCS11_PIN: right = '', KMS_AGENT_PKCS11_TOKEN: token = '' } = made;
  const wrong = '27182818';
  const open = () => {
    const { key } = loadAgentConfig({
      ...environment,
      KMS_AGENT_SOCKET: '/unused',
      KMS_AGENT_PKCS11_PIN: wrong,
    });
    if (!('pkcs11' in key)) throw new Error('expected a token');
    return createPkcs11(key.pkcs11, { info: () => {} });
  };
  const never = new AbortController().signal;
  const agent = open();
  await expect(agent.wrap(Buffer.alloc(32), never)).rejects.toThrow('refused the PIN');
  // Now it would be right, which only another try could find out.
  const change = ['--login', '--pin', right, '--change-pin', '--new-pin', wrong];
  execFileSync(hsm.tool, ['--module', hsm.module, '--token-label', token, ...change], { env: environment });
  await expect(agent.wrap(Buffer.alloc(32), never)).rejects.toThrow('refused the PIN');
  expect(await open().wrap(Buffer.alloc(32), never)).toMatch(/^pkcs11:/);
});

import { spawnSync } from 'node:child_process';
import { generateKekRing, unwrapKekRing, wrapKekRing } from '@ori/sealing/change-kek-ring';
import { openKekRing, parseKekRing } from '@ori/sealing/kek-ring-text';
import { createTransit } from '@ori/sealing/transit';
import { openRoom, type Room } from '@ori/test-env/room';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createToken,
  findHsm,
  type KmsAgent,
  MOTO,
  startKmsAgent,
  startMoto,
} from '../../../test/wings/kms/kms.ts';

const hsm = findHsm();
/** Whether OpenSC's command can do what the token can. */
const hasGcm = hsm !== undefined && spawnSync(hsm.tool, ['--help']).stdout.includes('--tag-bits-len');

describe.each([
  ['a PKCS#11 token', hsm !== undefined, async (room: Room) => hsm && createToken(hsm, room)],
  ['AWS KMS', MOTO !== undefined, startMoto],
] as const)('an agent for %s', (name, isThere, environmentOf) => {
  let room: Room;
  let agent: KmsAgent;
  beforeAll(async () => {
    if (!isThere) return;
    room = await openRoom('ori-kms-backend');
    const environment = (await environmentOf(room)) ?? {};
    agent = await startKmsAgent(() => environment);
  });
  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]();
    await room?.[Symbol.asyncDispose]();
  });

  it.skipIf(!isThere)('wraps the keys of a ring, and unwraps exactly these', async () => {
    const kms = createTransit({ kmsUrl: agent.url });
    const text = generateKekRing('signer');
    const wrapped = await wrapKekRing(text, kms);
    const { kids } = parseKekRing(text);
    expect((await openKekRing(wrapped, 'signer', kms)).kids).toEqual(kids);
    expect(await unwrapKekRing(wrapped, kms)).toBe(text);
    const { k } = JSON.parse(text).keys[0];
    expect(wrapped).not.toContain(k);
    expect(agent.output.join('\n')).not.toContain(Buffer.from(k, 'base64url').toString('base64'));
    expect(agent.output.join('\n')).not.toContain(k);
  });

  it.skipIf(!isThere)('refuses what it did not wrap, or what was altered', async () => {
    const kms = createTransit({ kmsUrl: agent.url });
    const text = generateKekRing('signer');
    const ring = JSON.parse(await wrapKekRing(text, kms));
    const { wrapped } = ring.keys[0];
    const at = wrapped.lastIndexOf(':') + 30;
    const altered = wrapped.slice(0, at) + (wrapped[at] === 'A' ? 'B' : 'A') + wrapped.slice(at + 1);
    expect(wrapped).toContain(hasGcm && name === 'a PKCS#11 token' ? ':v2:' : ':v1:');
    for (const other of ['vault:v1:AAAA', `${wrapped.split(':')[0]}:v1:AAAA`, altered]) {
      ring.keys[0].wrapped = other;
      const failure = await openKekRing(JSON.stringify(ring), 'signer', kms).catch((error: unknown) => error);
      expect(['KmsError', 'SealingError']).toContain((failure as Error).name);
    }
  });
});

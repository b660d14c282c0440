import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { CreateKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import { generateKekRing, openKekRing, parseKekRing, unwrapKekRing, wrapKekRing } from '@ori/store/sealing';
import { createTransit } from '@ori/store/sealing/transit';
import { createToken, findHsm, type KmsAgent, startKmsAgent } from '@ori/test-env/kms';
import { freePort } from '@ori/test-env/ports';
import { findProgram, openRoom, type Room } from '@ori/test-env/room';
import { ServerProcess } from '@ori/test-env/server-process';
import { startWorld } from '@ori/test-env/world';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const RULES = { owner: 'signer' } as const;
const hsm = findHsm();
const moto = findProgram('moto_server');
/** Whether OpenSC's command can do what the token can. */
const hasGcm = hsm !== undefined && spawnSync(hsm.tool, ['--help']).stdout.includes('--tag-bits-len');

/** A KMS that AWS's own client talks to, with one key. */
async function startMoto(room: Room): Promise<Record<string, string>> {
  const port = await freePort();
  const server = new ServerProcess({
    room,
    program: moto ?? '',
    arguments: ['-p', String(port)],
    ready: /Running on/,
    farewell: 'TERM',
    environment: { HOME: process.env['HOME'] ?? '' },
  });
  await server.start();
  const [accessKeyId, secretAccessKey, region] = ['AKIATEST', 'not-a-secret', 'eu-central-1'];
  const endpoint = `http://127.0.0.1:${port}`;
  const client = new KMSClient({ endpoint, region, credentials: { accessKeyId, secretAccessKey } });
  const { KeyMetadata } = await client.send(new CreateKeyCommand({}));
  client.destroy();
  return {
    AWS_ENDPOINT_URL_KMS: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    KMS_AGENT_BACKEND: 'aws',
    KMS_AGENT_AWS_KEY_ID: KeyMetadata?.KeyId ?? '',
  };
}

describe.each([
  ['a PKCS#11 token', hsm !== undefined, async (room: Room) => hsm && createToken(hsm, room)],
  ['AWS KMS', moto !== undefined, startMoto],
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
    expect((await openKekRing(wrapped, RULES, kms)).kids).toEqual(kids);
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
      const failure = await openKekRing(JSON.stringify(ring), RULES, kms).catch((error: unknown) => error);
      expect(['KmsError', 'SealingError']).toContain((failure as Error).name);
    }
  });
});

it.skipIf(hsm === undefined)(
  'a hardened signer waits for the KMS at its start, and signs with the ring that it unwraps',
  async () => {
    if (hsm === undefined) return;
    await using agent = await startKmsAgent((room) => createToken(hsm, room));
    const kms = createTransit({ kmsUrl: agent.url });
    await using world = await startWorld({
      process: true,
      environment: { KMS_URL: agent.url },
      wrapRing: (text) => wrapKekRing(text, kms),
    });
    expect((await world.sign()).status).toBe(200);
    await agent.stop();
    expect((await world.sign()).status).toBe(200);
    await world.signer.stop();
    const starting = world.signer.start();
    await expect
      .poll(() => world.signer.output.join('\n'), { timeout: 20_000 })
      .toContain('the KMS did not unwrap the KEK ring');
    await expect(fetch(`${world.baseUrl}/`)).rejects.toThrow('fetch failed');
    await agent.start();
    await starting;
    await world.ready();
    expect((await world.sign()).status).toBe(200);
    const ring = readFileSync(world.environment['SIGNER_KEK_FILE'] ?? '', 'utf8');
    expect(ring).not.toContain('"k"');
    const secrets = JSON.parse(world.kekText).keys.map(({ k }: { k: string }) => k);
    for (const secret of secrets) expect(world.signer.output.join('\n')).not.toContain(secret);
  },
);

import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '@ori/runtime/log';
import { rotateSigningKey } from '@ori/store/admin';
import { parseKekRing } from '@ori/store/sealing';
import { createRemoteKeySet, createVerifier, memoryReplayStore } from '@ori/verifier';
import { startGateway } from '../env/gateway.ts';
import { createHttpClient } from '../env/http-client.ts';
import { SIGN_BODY, startWorld } from '../env/world.ts';

/**
 * `node test/faults/rotations.ts [ROTATIONS] [SECONDS]`: rotates the key of one intern every SECONDS while
 * calls are signed through the gateway and verified by five verifiers, and prints the failures. `60 60` takes an hour.
 */
const [rotations = 60, everySeconds = 60] = process.argv.slice(2).map(Number);
const VERIFIERS = 5;
const CALLS_PER_SECOND = 4;

await using world = await startWorld({
  environment: { TRUST_GATEWAY: 'true' },
  // Logs only failures, to standard error: the counts alone do not show why a signing was refused.
  parts: { log: createLogger({ service: 'signer', level: 'error', destination: process.stderr }) },
});
await using gateway = await startGateway({
  signers: [new URL(world.baseUrl).host],
  management: ['127.0.0.1:9'],
});
using http = createHttpClient(gateway.url);
const { internId } = world.demo;
const sealer = parseKekRing(world.kekText);
const verifiers = Array.from({ length: VERIFIERS }, () =>
  createVerifier({
    internId,
    keys: createRemoteKeySet(`${gateway.url}/v1/interns/${internId}/daemon/jwks.json`),
    replay: memoryReplayStore(),
  }),
);
const counts = { rotated: 0, signed: 0, refused: 0, verified: 0, failed: 0 };
const why = new Map<string, number>();
const note = (text: string): void => void why.set(text, (why.get(text) ?? 0) + 1);
const body = new TextEncoder().encode('{}');

const bodySha256 = createHash('sha256').update(body).digest('hex');
const signBody = JSON.stringify({ ...JSON.parse(SIGN_BODY), bodySha256 });

// A memory replay store refuses what was signed before it was created.
await pause(8000);
let running = true;
async function call(): Promise<void> {
  const headers = ['Authorization', `Bearer ${await world.token()}`, 'Content-Type', 'application/json'];
  const reply = await http.ask({ method: 'POST', path: world.signPath, headers, body: signBody });
  if (reply.status !== 200) {
    counts.refused++;
    return note(`${reply.status} ${reply.text.slice(0, 100)}`);
  }
  counts.signed++;
  const rawHeaders = Object.entries(JSON.parse(reply.text) as Record<string, string>).flat();
  rawHeaders.push('content-type', 'application/json');
  for (const verifier of verifiers) {
    try {
      await verifier.verify({ method: 'POST', target: '/api/invoke', rawHeaders, body });
      counts.verified++;
    } catch (error) {
      counts.failed++;
      note(String((error as { code?: string }).code ?? error));
    }
  }
}
const calls = (async () => {
  while (running) {
    await Promise.all([call().catch((error) => note(String(error))), pause(1000 / CALLS_PER_SECOND)]);
  }
})();
for (let n = 0; n < rotations; n++) {
  await rotateSigningKey(world.store, { internId, sealer })
    .then(() => counts.rotated++)
    .catch((error) => note(`rotation: ${error}`));
  await pause(everySeconds * 1000);
}
running = false;
await calls;
console.log(JSON.stringify({ ...counts, why: Object.fromEntries(why) }));

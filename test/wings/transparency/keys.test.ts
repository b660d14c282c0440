import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { addSigningKey } from '@ori/administration/signing-keys';
import { parseJwkSet } from '@ori/proof';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { startWorld } from '@ori/test-env/world';
import { rememberInMemory } from '@ori/tlog/client';
import { createKeyWatch } from '@ori/tlog/key-watch';
import { afterAll, expect, test } from 'vitest';
import { run } from '../../../services/ori/src/program.ts';
import { Sink } from '../../env/sink.ts';
import { clientOf, openLogWorld, untilSize } from './log-world.ts';

const home = await mkdtemp(join(tmpdir(), 'ori-home-'));
afterAll(() => rm(home, { recursive: true }));

/** A signer, and a log that follows its audit file. */
async function openSignedLog() {
  const world = await startWorld();
  const { internId } = world.demo;
  const logWorld = await openLogWorld();
  const log = await logWorld.start({ LOG_AUDIT_FILES: world.environment['SIGNER_AUDIT_FILE'] ?? '' });
  return {
    world,
    internId,
    log,
    logWorld,
    /** What a daemon fetches. */
    async keySet() {
      const { text } = await world.http.ask({ path: `/v1/interns/${internId}/daemon/jwks.json` });
      return parseJwkSet(JSON.parse(text));
    },
    async ori(policyText: string) {
      const policy = join(home, 'policy');
      await writeFile(policy, policyText);
      const [stdout, stderr] = [new Sink(), new Sink()];
      const exit = await run(['--json', 'log', 'keys', internId, '--policy', policy], {
        environment: { HOME: home, ORI_BASE_URL: world.baseUrl },
        stdin: Readable.from([]),
        stdout,
        stderr,
        interrupted: new AbortController().signal,
        nowSeconds: () => Math.floor(Date.now() / 1000),
      });
      return { exit, said: JSON.parse(exit === 0 ? stdout.text : stderr.text) };
    },
    async [Symbol.asyncDispose]() {
      await logWorld[Symbol.asyncDispose]();
      await world[Symbol.asyncDispose]();
    },
  };
}

test('the owner of an intern is told of a key that an insider added, once, and can list all of them', async () => {
  await using opened = await openSignedLog();
  const { world, internId, log, keySet, ori } = opened;
  const client = clientOf(log);
  const [own] = await keySet();
  const reported: { index: number; key: Buffer }[] = [];
  const problems: string[] = [];
  const remembered = rememberInMemory();
  const openWatch = () =>
    createKeyWatch({
      client,
      internId,
      remembered,
      everyMs: 3_600_000,
      known: own === undefined ? [] : [own.publicKey],
      onKey: ({ index, publicKey }) => void reported.push({ index, key: Buffer.from(publicKey) }),
      onProblem: ({ kind }) => void problems.push(kind),
    });
  const watch = openWatch();
  await untilSize(client, 1);
  await watch.check();
  expect(reported).toEqual([]);

  // Another intern's key, and a proof, are nobody's business here.
  await world.sign();
  const { publicKey } = await addSigningKey(world.store, { internId, sealer: parseKekRing(world.kekText) });
  await expect.poll(async () => (await keySet()).length).toBe(2);
  await keySet();
  await untilSize(client, 3);
  await watch.check();
  await watch.check();
  expect(reported).toEqual([{ index: 2, key: Buffer.from(publicKey) }]);
  await watch.stop();
  const again = openWatch();
  await again.check();
  expect(reported).toHaveLength(1);
  await again.stop();
  expect(problems).toEqual([]);

  const policy = `log ${log.vkeys.log} ${log.url}\nquorum none\n`;
  const listed = await ori(policy);
  expect(listed.exit).toBe(0);
  const kids = new Set((await keySet()).map(({ kid }) => kid));
  expect(new Set(listed.said.keys.map(({ key }: { key: string }) => key))).toEqual(kids);
  expect(listed.said.keys).toMatchObject([
    { leaf: 0, published: true },
    { leaf: 2, published: true },
  ]);
});

test('a published key without a leaf is found by ori log keys', async () => {
  await using opened = await openSignedLog();
  await using other = await openLogWorld();
  await writeFile(other.auditFile, '');
  const log = await other.start();
  const { vkeys, url } = log;
  await untilSize(clientOf(log), 0);
  const { exit, said } = await opened.ori(`log ${vkeys.log} ${url}\nquorum none\n`);
  expect([exit, said.error?.code ?? said]).toEqual([4, 'key_not_logged']);
});

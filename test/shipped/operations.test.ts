import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { NGINX } from '../env/gateway.ts';
import { startPostgres } from '../env/postgres.ts';
import { openRoom } from '../env/room.ts';
import { renderTable } from '../env/text-table.ts';
import { type Answer, askAgain } from './client.ts';
import { startLoad } from './constant-load.ts';
import { startDaemon } from './daemon-process.ts';
import { OPERATIONS, type OperatedWorld, operatorOf } from './operations.ts';
import { callWith, signingOf, startShippedWorld } from './world.ts';

/** Under load for so long, every operation once in ten minutes; otherwise each once. */
const HOURS = Number(process.env['OPERATED_HOURS'] ?? 0);
const ROUNDS = HOURS === 0 ? 1 : HOURS * 6;
const CALM_MS = HOURS === 0 ? 0 : 600_000 / OPERATIONS.length;
const PER_SECOND = 20;
const BODY = '{"prompt":"hello"}';

test.skipIf(NGINX === undefined)(
  'no call fails while each operation is done, but for those that interrupt',
  { timeout: HOURS === 0 ? 180_000 : HOURS * 4_000_000 },
  async () => {
    await using stack = new AsyncDisposableStack();
    const postgres = stack.use(await startPostgres());
    const { directory: folder } = stack.use(await openRoom('ori-operations'));
    const shipped = stack.use(await startShippedWorld({}, {}, {}, { postgres }));
    const daemon = stack.use(await startDaemon(shipped));
    const ring = join(folder, 'signer-kek.json');
    await writeFile(ring, shipped.kekText, { mode: 0o600 });
    const { client, issuer, managementKey, byokId } = shipped;
    let signWith: { kid: string } | undefined;
    const newToken = () => issuer.token({ expiresInSeconds: 3600, ...(signWith && { signWith }) });
    let bearer = await newToken();
    const world: OperatedWorld = {
      ...shipped,
      postgres,
      folder,
      admin: operatorOf(shipped, ring),
      async signIn(kid) {
        signWith = { kid };
        bearer = await newToken();
      },
    };

    const callDaemon = async () => {
      const signed = await askAgain(client, signingOf(shipped, BODY, bearer));
      if (signed.status !== 200) return `signer: ${sentence(signed)}`;
      const answer = await daemon.client.ask(callWith(signed.json(), BODY));
      return answer.status === 200 ? undefined : `daemon: ${sentence(answer)}`;
    };
    const list = async () => {
      const answer = await askAgain(client, { path: `/v1/byok/${byokId}`, bearer: managementKey });
      return answer.status === 200 ? undefined : `management: ${sentence(answer)}`;
    };
    let during = '';
    const tally = new Map(
      OPERATIONS.map(({ name }) => [name, { calls: 0, seconds: 0, failures: [] as string[] }]),
    );
    // A new daemon accepts no proofs from before its start.
    await expect.poll(callDaemon, { timeout: 60_000 }).toBeUndefined();
    let sent = 0;
    const load = startLoad(PER_SECOND, async () => {
      const began = during;
      const failure = await (sent++ % 4 === 0 ? list() : callDaemon()).catch(
        (error) => `no answer: ${error.code}`,
      );
      // A call that failed may have begun before the operation that it met.
      const row = tally.get(failure === undefined ? began : during);
      if (row === undefined) return;
      row.calls++;
      if (failure !== undefined) row.failures.push(failure);
    });
    stack.defer(async () => void (await load.end()));

    for (let round = 0; round < ROUNDS; round++) {
      for (const { name, interrupts, run } of OPERATIONS) {
        during = name;
        bearer = await newToken();
        const begun = performance.now();
        await run(world);
        const row = tally.get(name);
        const took = performance.now() - begun;
        if (row) row.seconds = Math.max(row.seconds, took / 1000);
        // A daemon that lost its spent proofs refuses those from before.
        if (interrupts) await expect.poll(callDaemon, { timeout: 20_000 }).toBeUndefined();
        await pause(Math.max(500, CALM_MS - took));
      }
    }
    await load.end();
    const rows = [...tally].map(([name, { calls, seconds, failures }]) => [
      ...[name, String(ROUNDS), `${seconds.toFixed(1)} s`, String(calls), String(failures.length)],
      [...new Set(failures)].join('; '),
    ]);
    console.log(renderTable([['operation', 'times', 'longest', 'calls', 'failed', 'with'], ...rows]));
    const planned = OPERATIONS.filter(({ interrupts }) => !interrupts);
    expect(planned.flatMap(({ name }) => tally.get(name)?.failures ?? [])).toEqual([]);
    // Each was under load.
    expect([...tally.values()].filter(({ calls }) => calls === 0)).toEqual([]);
  },
);

/** The status, and the reason if it has one. */
function sentence(answer: Answer): string {
  const { code, metadata } = answer.json().error;
  return `${answer.status} ${metadata?.reason ?? code}`;
}

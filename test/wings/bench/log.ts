import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createLogClient, type LogClient } from '@ori/tlog/client';
import { createLogKeys } from '@ori/tlog/log-keys';
import { renderVkey } from '@ori/tlog/note';
import { parsePolicy } from '@ori/tlog/policy';
import { residentBytes } from '../../env/peak-memory.ts';
import { freePort } from '../../env/ports.ts';
import { openRoom } from '../../env/room.ts';
import { cpuSeconds, startShipped } from '../../lab/bench/processes.ts';
import type { Row } from '../../lab/bench/row.ts';
import { openLogWorld, untilSize } from '../transparency/log-world.ts';
import { appendLines, auditLine, auditLines } from '../transparency/signer-lines.ts';

/** The interval between lines while latency is measured. */
const SPACING_MS = 25;
const PATIENCE_MS = 300_000;

/** The signing log alone. Nothing comparable exists, so its absolute figures are shown. */
export const logRow: Row = {
  name: 'log',
  async run(bench) {
    await using world = await openLogWorld();
    await using room = await openRoom('ori-bench-log');
    await writeFile(world.auditFile, '');
    const port = await freePort();
    const env = { ...world.env, LOG_PORT: String(port), LOG_INTERVAL_MS: '2000' };
    const { pid } = await startShipped(room, 'log/ori-log', env);
    const client = clientOf(env, port);
    await untilSize(client, 0, PATIENCE_MS);

    const perCpuSecond: number[] = [];
    const bytesEach: number[] = [];
    const resident: number[] = [];
    const p50: number[] = [];
    const p99: number[] = [];
    const linesEach = bench.isQuick ? 2000 : 50_000;
    let size = 0;
    for (let round = 1; round <= bench.rounds; round++) {
      bench.progress(`round ${round} of ${bench.rounds}: ${linesEach} lines at once`);
      const before = cpuSeconds(pid);
      await appendLines(world.auditFile, auditLines(linesEach));
      size += linesEach;
      await untilSize(client, size, PATIENCE_MS);
      perCpuSecond.push(linesEach / (cpuSeconds(pid) - before));
      resident.push(residentBytes(pid) / 2 ** 20);
      bytesEach.push((await bytesBelow(join(world.folder, 'log'))) / size);
      bench.progress(`round ${round} of ${bench.rounds}: a line every ${SPACING_MS} ms`);
      const latencies = await measureLatency(world.auditFile, client, size, bench.isQuick ? 80 : 400);
      size += latencies.length;
      p50.push(latencies[Math.floor(latencies.length / 2)] ?? Number.NaN);
      p99.push(latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN);
    }
    const alone = (title: string, unit: string, rounds: readonly number[]) => ({
      title,
      unit,
      ours: { name: 'log', rounds },
    });
    return [
      alone('lines taken in', 'leaves per CPU s', perCpuSecond),
      alone('on the disk for each proof, journal included', 'bytes', bytesEach),
      { ...alone('resident memory', 'MiB', resident), mark: { atMost: 128 } },
      { ...alone('from the audit line to a verified checkpoint, p50', 's', p50), mark: { atMost: 3 } },
      { ...alone('from the audit line to a verified checkpoint, p99', 's', p99), mark: { atMost: 5 } },
    ];
  },
};

function clientOf(env: Readonly<Record<string, string>>, port: number): LogClient {
  const { logKey, completeKey } = createLogKeys(env['LOG_ORIGIN'] ?? '', env['LOG_KEY'] ?? '');
  const url = `http://127.0.0.1:${port}/log`;
  const policy = `log ${renderVkey(logKey)} ${url}\nwitness complete ${renderVkey(completeKey)}\nquorum none\n`;
  return createLogClient({ policy: parsePolicy(policy) });
}

/** Seconds for each of `count` lines, sorted. */
async function measureLatency(
  file: string,
  client: LogClient,
  from: number,
  count: number,
): Promise<number[]> {
  const writtenAt: number[] = [];
  const latencies: number[] = [];
  const writing = (async () => {
    for (let line = 0; line < count; line++) {
      writtenAt.push(performance.now());
      await appendLines(file, [auditLine()]);
      await pause(SPACING_MS);
    }
  })();
  while (latencies.length < count) {
    const head = await untilSize(client, from + latencies.length + 1, PATIENCE_MS);
    const at = performance.now();
    while (latencies.length < head.size - from) {
      latencies.push((at - (writtenAt[latencies.length] ?? Number.NaN)) / 1000);
    }
  }
  await writing;
  return latencies.sort((one, other) => one - other);
}

async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

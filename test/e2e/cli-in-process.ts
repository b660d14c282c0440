import { Readable } from 'node:stream';
import { run } from '../../services/ori/src/program.ts';
import { Sink } from '../env/sink.ts';
import type { OriHome, OriResult } from './cli-process.ts';

/** Runs `ori` with a home folder inside this process, for the many tests that do not depend on a process. */
export async function runOri(
  home: OriHome,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  { isTTY = false, columns = 80 }: { isTTY?: boolean; columns?: number } = {},
): Promise<OriResult> {
  const [stdout, stderr] = [new Sink(), new Sink()];
  for (const stream of [stdout, stderr]) Object.assign(stream, { isTTY, columns });
  const exit = await run(args, {
    environment: { HOME: home.folder, ORI_SESSION_STORE: 'file', ...env },
    stdin: Readable.from([]),
    stdout,
    stderr,
    interrupted: new AbortController().signal,
    nowSeconds: () => Math.floor(Date.now() / 1000),
  });
  return { exit, stdout: stdout.text, stderr: stderr.text };
}

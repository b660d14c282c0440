import { Readable } from 'node:stream';
import { run } from '../../services/ori/src/program.ts';
import { Sink } from '../env/sink.ts';
import { type OriHome, type OriResult, type OriRun, type RunningOri, teller } from './cli-process.ts';

interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** `ori` inside this process, for the many tests that do not depend on a process: no signals and no open stdin. */
export function startOri(
  { environment }: OriHome,
  args: readonly string[],
  { env, stdin = '' }: Pick<OriRun, 'env' | 'stdin'> = {},
  { isTTY = false, columns = 80 }: Screen = {},
): Omit<RunningOri, 'child'> {
  const [stdout, stderr] = [new Sink(), new Sink()];
  for (const stream of [stdout, stderr]) Object.assign(stream, { isTTY, columns });
  const result = run(args, {
    environment: { ...environment, ...env },
    stdin: Readable.from(stdin === null || stdin === '' ? [] : [Buffer.from(stdin)]),
    stdout,
    stderr,
    interrupted: new AbortController().signal,
    nowSeconds: () => Math.floor(Date.now() / 1000),
  }).then((exit): OriResult => ({ exit, stdout: stdout.text, stderr: stderr.text }));
  return { result, told: teller(stderr, () => stderr.text, result) };
}

export function runOri(
  home: OriHome,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  screen: Screen = {},
): Promise<OriResult> {
  return startOri(home, args, { env }, screen).result;
}

import { Readable, type Stream } from 'node:stream';
import { run } from '../../services/ori/src/program.ts';
import { Sink } from '../env/sink.ts';

export interface OriResult {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface OriRun {
  readonly env?: Readonly<Record<string, string>>;
  /** Piped to stdin; by default stdin is empty, with null it stays open. */
  readonly stdin?: string | Uint8Array | null;
  /** A file to use as stdin. */
  readonly stdinFile?: string;
}

/** A running `ori`, for tests that act while it runs. */
export interface RunningOri {
  /** Resolves with the first match in stderr, past or future; rejects if the process exits first. */
  told(pattern: RegExp): Promise<RegExpExecArray>;
  readonly result: Promise<OriResult>;
}

type HostEnvironment = { readonly environment: Readonly<Record<string, string>> };

/** `ori` inside this process, for the many tests that do not depend on a process: no signals and no open stdin. */
export function startOri(
  { environment }: HostEnvironment,
  args: readonly string[],
  { env, stdin = '' }: Pick<OriRun, 'env' | 'stdin'> = {},
): RunningOri {
  const [stdout, stderr] = [new Sink(), new Sink()];
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
  home: HostEnvironment,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<OriResult> {
  return startOri(home, args, { env }).result;
}

/** `told` of a program that writes to `stream` what `text` returns, and ends with `end`. */
export function teller(stream: Stream, text: () => string, end: Promise<unknown>): RunningOri['told'] {
  return (pattern) =>
    new Promise((resolve, reject) => {
      const look = (isLast: boolean): void => {
        const match = pattern.exec(text());
        if (match !== null) resolve(match);
        else if (isLast) reject(new Error(`ori exited without printing ${pattern}: ${text()}`));
        else return;
        stream.off('data', onData);
      };
      const onData = (): void => look(false);
      stream.on('data', onData);
      look(false);
      end.then(() => look(true), reject);
    });
}

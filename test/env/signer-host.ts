import { createLogger } from '@ori/runtime/log';
import { type RunningSigner, type SignerParts, startSigner } from '@ori/signer';
import { loadSignerConfig, type SignerConfig } from '@ori/signer/config';
import { shippedServer } from './programs.ts';
import type { Room } from './room.ts';

/** A signer in this process or a separate one. */
export interface SignerHost extends AsyncDisposable {
  /** Undefined if it runs in this process. */
  readonly pid: number | undefined;
  /** Every log line. For a separate process, all of standard output and standard error. */
  readonly output: readonly string[];
  /** Stops gracefully; a separate process by SIGTERM. */
  stop(): Promise<void>;
  /** Starts again on the same ports, after `stop`. */
  start(): Promise<void>;
}

export type SignerEnvironment = Readonly<Record<string, string>>;

/** The signer in this process, with injected parts. */
export async function hostInProcess(
  environment: SignerEnvironment,
  changes: Partial<SignerConfig> = {},
  parts: Partial<SignerParts> = {},
): Promise<SignerHost> {
  const output: string[] = [];
  const destination = { write: (line: string) => void output.push(line) };
  // Beside the tests in one process, a late loop is not overload.
  const config = { overloadDelayMs: 600_000, ...loadSignerConfig(environment), ...changes };
  const log = createLogger({ service: 'signer', level: config.logLevel, destination });
  let running: RunningSigner | undefined;
  const start = async () => {
    running = await startSigner(config, { log, ...parts });
  };
  const stop = async () => {
    await running?.stop();
    running = undefined;
  };
  await start();
  return { pid: undefined, output, start, stop, [Symbol.asyncDispose]: stop };
}

/**
 * The signer as it ships and as an operator starts it: a hardened process, configured only by its environment.
 *
 * @param flags of Node, for the program without its hardened entry
 */
export async function hostAsProcess(environment: SignerEnvironment, room: Room, flags?: readonly string[]) {
  const output: string[] = [];
  const hear = (line: string) => void output.push(line);
  const program = flags === undefined ? 'signer/ori-signer' : 'signer/main';
  const server = await shippedServer(room, program, environment, hear, flags);
  await server.start();
  const listening = output.find((line) => line.includes('"msg":"listening"')) ?? '{}';
  const { url, opsUrl } = JSON.parse(listening) as { readonly url: string; readonly opsUrl: string };
  return {
    url,
    opsUrl,
    get pid() {
      return server.pid;
    },
    output,
    stop: () => server.end('SIGTERM'),
    start: () => server.start(),
    [Symbol.asyncDispose]: () => server.end('SIGKILL'),
  };
}

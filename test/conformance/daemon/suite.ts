import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { INTERN_ID } from '../../vectors/scenario.ts';
import { ANSWER_CHECKS, QUESTION_CHECKS } from '../../wings/lost-answers/conformance/answer-checks.ts';
import { judgeAnswers } from '../../wings/lost-answers/conformance/answers.ts';
import { type Bench, createBench, type Daemon, GOOD, type Refusal } from './bench.ts';
import { CHECKS, RACE_CHECKS, SLOW_CHECKS } from './checks.ts';
import { KEY_CHECKS } from './key-checks.ts';
import type { KeyAnswer, KeyServer } from './key-server.ts';
import { PROOF_CHECKS } from './proof-checks.ts';

export interface SuiteOptions {
  /** The path of the guarded route. */
  readonly path: string;
  readonly bodyBytesMax: number;
  /** The daemon gets Fetch `Request`s: what it cannot see is not counted as a failure (SPEC.md, H6). */
  readonly isFetch: boolean;
  readonly only: string | undefined;
  /** The daemon keeps answers (REPLAY-STORES.md, N14 to N21). */
  readonly answers?: boolean;
  /** It proves them (SPEC.md, appendix A). */
  readonly proofs?: boolean;
  /** The checks that take 30 s, those that need a daemon each, those of requests alone, and bursts. */
  readonly leftOut?: readonly Kind[];
}

type Kind = 'slow' | 'key sets' | 'requests' | 'races';

/** The result of one check. */
export interface Outcome {
  readonly sentence: string;
  readonly title: string;
  readonly difference?: string | undefined;
  /** It failed in what the runtime does not show. */
  readonly isUnseen?: boolean;
}

/** How the suite gets a daemon with a key set. */
export interface Daemons {
  /** Whether each call starts a daemon of its own. */
  readonly areSeparate: boolean;
  start(answer: KeyAnswer): Promise<Daemon & AsyncDisposable>;
}

/** Starts `command` for each key set, with `{intern}` and `{jwks}` replaced. It prints its address, or `port N`. */
export function startedBy(
  command: readonly string[],
  keyServer: KeyServer,
  stderr: 'inherit' | 'ignore' = 'inherit',
): Daemons {
  return {
    areSeparate: true,
    async start(answer) {
      const keys = keyServer.open(answer);
      const [program = '', ...args] = command.map((part) =>
        part.replaceAll('{intern}', INTERN_ID).replaceAll('{jwks}', keys.url),
      );
      const child = spawn(program, args, { stdio: ['ignore', 'pipe', stderr] });
      const ended = new Promise<never>((_, reject) => {
        child.once('error', reject);
        child.once('exit', (code) =>
          reject(new Error(`${program} exited with ${code} before it printed its address`)),
        );
      });
      ended.catch(() => undefined);
      const url = await Promise.race([ended, addressOf(createInterface({ input: child.stdout }))]);
      return {
        url,
        keys,
        async [Symbol.asyncDispose]() {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const exit = once(child, 'exit');
          child.kill('SIGKILL');
          await exit;
        },
      };
    },
  };
}

async function addressOf(lines: AsyncIterable<string>): Promise<URL> {
  for await (const line of lines) {
    const [, address, port] = /(http:\/\/[\w.[\]:-]+)|\bport(?: |":)(\d+)/.exec(line) ?? [];
    if (address !== undefined || port !== undefined) return new URL(address ?? `http://127.0.0.1:${port}`);
  }
  throw new Error('it printed no address');
}

/** The freshness that a set needs so that the next one is fetched 10 s later (SPEC.md, K16). */
const BRIEFLY = { 'cache-control': 'max-age=10' };
const STARTS_WITHIN_MS = 120_000;

/**
 * A daemon that is started by someone else, at an address. Until the first check its key set is an error, and between two sets
 * the suite waits until the daemon may fetch again.
 */
export function runningAt(url: URL, keyServer: KeyServer): Daemons {
  const keys = keyServer.open({ status: 503 });
  let isFirst = true;
  return {
    areSeparate: false,
    async start(answer) {
      if (isFirst) await listening(url);
      else await pause(10_500);
      isFirst = false;
      keys.answer = { ...answer, headers: { ...BRIEFLY, ...answer.headers } };
      return { url, keys, [Symbol.asyncDispose]: async () => undefined };
    },
  };
}

/** Resolves as soon as the address accepts a connection. */
async function listening(url: URL): Promise<void> {
  const endMs = performance.now() + STARTS_WITHIN_MS;
  for (;;) {
    const socket = connect(Number(url.port), url.hostname.replace(/^\[|\]$/g, ''));
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    if (performance.now() > endMs) throw new Error(`nothing listens at ${url.origin}`);
    await pause(200);
  }
}

const AT_ONCE = 6;

/** Runs every check. Throws if a daemon does not start or accepts no proof at all. */
export async function runSuite(
  daemons: Daemons,
  options: SuiteOptions,
  tell: (text: string) => void,
): Promise<Outcome[]> {
  const refusals: Refusal[] = [];
  const outcomes: Outcome[] = [];
  const wanted = ({ sentence, title }: { sentence: string; title: string }): boolean =>
    options.only === undefined || `${sentence} ${title}`.includes(options.only);
  const { path, bodyBytesMax } = options;
  const benchOf = (daemon: Daemon): Bench =>
    createBench(daemon, { internId: INTERN_ID, path, bodyBytesMax }, refusals);

  async function judge(
    check: Omit<Outcome, 'difference'> & { run(bench: Bench): Promise<string | undefined>; isRaw?: true },
    bench: Bench,
  ) {
    const { sentence, title } = check;
    const difference = await check.run(bench).catch((error: unknown) => String(error));
    const isUnseen = difference !== undefined && options.isFetch && check.isRaw === true;
    outcomes.push({ sentence, title, difference, isUnseen });
  }

  const isIn = (kind: Kind) => options.leftOut?.includes(kind) !== true;
  const keyChecks = KEY_CHECKS.filter((check) => isIn('key sets') && wanted(check));
  const inTurn = async (): Promise<void> => {
    for (let check = keyChecks.shift(); check !== undefined; check = keyChecks.shift()) {
      await using daemon = await daemons.start(check.answer);
      await judge(check, benchOf(daemon));
    }
  };
  tell(`key sets: ${keyChecks.length} checks`);
  const keysDone = Promise.all(Array.from({ length: daemons.areSeparate ? AT_ONCE : 1 }, inTurn));
  if (!daemons.areSeparate) await keysDone;

  await using daemon = await daemons.start(GOOD);
  const bench = benchOf(daemon);
  await bench.ready();
  const slowChecks = SLOW_CHECKS.filter((check) => isIn('slow') && wanted(check));
  const slow = Promise.all(slowChecks.map((check) => judge(check, bench)));
  const checks = [
    ...(isIn('requests') ? CHECKS : []),
    ...(isIn('races') ? RACE_CHECKS : []),
    ...(options.answers === true ? ANSWER_CHECKS : QUESTION_CHECKS),
    ...(options.proofs === true ? PROOF_CHECKS : []),
  ].filter(wanted);
  tell(`requests: ${checks.length} checks`);
  for (const check of checks) await judge(check, bench);
  await Promise.all([slow, keysDone]);
  outcomes.push(...judgeAnswers(refusals).filter(wanted));
  return outcomes;
}

import { bodyOf } from '../adapters/request-body.ts';
import { CliError } from '../core/errors.ts';
import { type DaemonAnswer, isEventStream, isGood, refusalOf, textOf } from '../delivery/daemon-answer.ts';
import {
  type CallTarget,
  findTarget,
  readyCall,
  SILENCE_SECONDS_DEFAULT,
  type TargetOptions,
} from '../delivery/signed-call.ts';
import type { Context } from '../session/context.ts';
import { interruptedBy, openProfile } from '../session/profile.ts';
import { isForgotten } from './forgotten.ts';
import { headersOfStateless, type Id, type JsonRpcText } from './json-rpc.ts';
import { createLife, type Life } from './life.ts';
import { lost, type Reading, receive, type Sent } from './receive.ts';

const ACCEPT = 'application/json, text/event-stream';
const SESSION = 'mcp-session-id';
const VERSION = 'mcp-protocol-version';
const INITIALIZED = 'notifications/initialized';
const CANCELLED = 'notifications/cancelled';
/** How long a daemon that has died is asked for an answer: most clients wait for a minute. */
const PATIENCE_SECONDS = 30;
/** How long a cancellation may take, and how long after the end of stdin, in milliseconds. */
const CANCELLATION_MS = 10_000;
const LAST_CANCELLATION_MS = 500;

export interface McpSessionOptions {
  readonly context: Context;
  readonly intern: string;
  readonly path: string;
  readonly options: TargetOptions;
  readonly print: (line: string) => Promise<void>;
  /** Runs `work`, and once more after a sign-in if one was needed, which `over` ends. */
  readonly signedIn: <T>(work: () => Promise<T>, over: AbortSignal) => Promise<T>;
  /** Tells the client about requests that get no answer. */
  readonly fail: (ids: readonly Id[], error: unknown) => Promise<void>;
}

/** A message that was read, and what it cancels. */
interface Opened {
  readonly life: Life;
  readonly cancelled: readonly Life[];
}

/**
 * Streamable HTTP (MCP 2025-03-26 to 2026-07-28) as far as it consists of POST requests. The session and the version
 * that `initialize` agrees on are sent with every later message. No proof covers these headers. A session that the server
 * has forgotten is begun again.
 */
export function createMcpSession(given: McpSessionOptions) {
  const { context, path, print, signedIn, fail } = given;
  const lives = new Set<Life>();
  const { timeout: silenceSeconds = SILENCE_SECONDS_DEFAULT } = given.options;
  let target: CallTarget | undefined;
  let agreed: Readonly<Record<string, string>> = {};
  /** The messages that began the session. */
  let opening: Pick<Life, 'line' | 'said'>[] = [];
  let renewing: Promise<boolean> | undefined;
  /** Aborted when no answer is waited for any more, with what the client is told. */
  const over = new AbortController();
  let isEnding = false;

  const { note } = context.terminal;
  const reading: Reading = {
    write: print,
    leftOut: () => note('Left out a response of the daemon to a request that is not open.'),
    chosen(version) {
      agreed = { ...agreed, [VERSION]: version };
    },
  };

  async function send(life: Life, onFlushed?: () => void): Promise<Sent> {
    const { line, said, ended } = life;
    // Nobody asks for the answer to what was cancelled.
    const quietly = (...lines: string[]) => (ended.aborted ? undefined : note(...lines));
    const terminal = { ...context.terminal, note: quietly };
    const closed = AbortSignal.any([ended, over.signal]);
    const isOutside = said.method === 'initialize' || said.version !== undefined;
    return signedIn(async () => {
      target ??= await findTarget(openProfile(context), given.intern, given.options);
      const { origin } = target;
      const profile = { ...interruptedBy(target.profile, closed), terminal };
      const carried = isOutside ? {} : agreed;
      const headers = { accept: ACCEPT, ...carried, ...headersOfStateless(said) };
      const isMissing = (answer: DaemonAnswer) => isEventStream(answer) && life.isWaiting();
      const patienceSeconds = PATIENCE_SECONDS;
      const request = {
        path,
        headers,
        body: bodyOf(line),
        silenceSeconds,
        patienceSeconds,
        onFlushed,
        isMissing,
        isPassedOn: isEventStream,
      };
      life.sent();
      const { answer } = await readyCall({ ...target, profile }, request).send();
      const refusal = isGood(answer) ? '' : await textOf(answer, origin);
      return { answer, refusal, agreed: carried, origin };
    }, over.signal);
  }

  /** Keeps the session that an answer to `initialize` begins. */
  function begin({ line, said }: Life, { answer }: Sent): void {
    const session = answer.headers[SESSION];
    agreed = typeof session === 'string' ? { [SESSION]: session } : {};
    opening = [{ line, said }];
  }

  async function exchange(life: Life, onFlushed?: () => void): Promise<void> {
    const { said, ended } = life;
    try {
      await renewing;
      let sent = await send(life, onFlushed);
      try {
        if (hasForgotten(sent) && isRepeatable(said) && (await renew(sent.agreed))) {
          sent.answer.end();
          sent = await send(life);
        }
        if (said.method === 'initialize') begin(life, sent);
        if (said.method === INITIALIZED) opening = [...opening.slice(0, 1), life];
        await receive(sent, life, reading);
      } finally {
        sent.answer.end();
      }
    } catch (error) {
      if (!ended.aborted) await fail(life.lost(), over.signal.aborted ? over.signal.reason : error);
    }
  }

  /** Begins a session instead of the forgotten one, once for all messages that learn of it. */
  function renew(forgotten: Sent['agreed']): Promise<boolean> {
    if (renewing === undefined && agreed[SESSION] !== forgotten[SESSION]) return Promise.resolve(true);
    renewing ??= reopen(agreed).catch(() => false);
    void renewing.then(() => {
      renewing = undefined;
    });
    return renewing;
  }

  /** Returns whether the server agrees to the version that the client already speaks. */
  async function reopen(before: Sent['agreed']): Promise<boolean> {
    const lines = opening;
    for (const { line, said } of lines) {
      const life = createLife(line, said);
      const sent = await send(life);
      try {
        if (!isGood(sent.answer)) throw refusalOf(sent.answer);
        if (said.method === 'initialize') begin(life, sent);
        // The client has its answer to `initialize` already.
        await receive(sent, life, { ...reading, write: async () => undefined });
      } finally {
        sent.answer.end();
      }
      if (agreed[VERSION] !== before[VERSION]) throw new Error('another version');
    }
    opening = lines;
    note('The daemon had forgotten the session; began another one.');
    return lines.length > 0;
  }

  return {
    /** A message that was read, whose turn will come. What it cancels is not waited for from now on. */
    open(line: Buffer, said: JsonRpcText): Opened {
      const cancelled = [...lives].filter((life) => said.cancels.some((id) => life.cancelled(id)));
      const life = createLife(line, said);
      lives.add(life);
      if (isEnding) endIfEndless(life);
      return { life, cancelled };
    },
    /** Sends a message on. Neither promise rejects. */
    pass({ life, cancelled }: Opened): {
      /** The next message may be sent. */
      readonly isSent: Promise<void>;
      /** Everything that it caused and is waited for has been written. */
      readonly isDone: Promise<void>;
    } {
      const { said, ended } = life;
      const isCancellation = said.method === CANCELLED;
      // A stateless request is cancelled by its end. What was not sent is cancelled already.
      const isNews = cancelled.length === 0 || cancelled.some(isCancelledByMessage);
      if (ended.aborted || (isCancellation && !isNews)) {
        lives.delete(life);
        return { isSent: Promise.resolve(), isDone: Promise.resolve() };
      }
      const flushed = Promise.withResolvers<void>();
      // What is not a request is answered at once, and what follows it may depend on it; so does what follows initialize.
      const isFollowed = (said.ids.length === 0 && !isCancellation) || said.method === 'initialize';
      if (isCancellation) setTimeout(life.end, CANCELLATION_MS).unref();
      const hasEnded = new Promise<void>((resolve) => ended.addEventListener('abort', () => resolve()));
      const isDone = Promise.race([exchange(life, isFollowed ? undefined : flushed.resolve), hasEnded]);
      return {
        isSent: flushed.promise,
        isDone: isDone.finally(() => {
          lives.delete(life);
          flushed.resolve();
        }),
      };
    },
    /**
     * No message follows, but for those that wait. Ends the streams that have no last message at once, cancellations soon, and
     * everything else after the time that the daemon may be silent: one that sends comments is never silent.
     */
    end(): void {
      isEnding = true;
      for (const life of lives) {
        endIfEndless(life);
        if (life.said.method === CANCELLED) setTimeout(life.end, LAST_CANCELLATION_MS).unref();
      }
      setTimeout(() => {
        over.abort(
          target === undefined
            ? new CliError('sign_in_timed_out', { seconds: silenceSeconds })
            : lost(target.origin, `nothing arrived within ${silenceSeconds} s`),
        );
      }, silenceSeconds * 1000).unref();
    },
    /** Ends what is left of requests that nobody waits for. */
    close(): void {
      over.abort();
    },
  };
}

/** The messages between an MCP client and the server behind a daemon. */
export type McpSession = ReturnType<typeof createMcpSession>;

function isCancelledByMessage(life: Life): boolean {
  return life.isSent() && life.said.version === undefined;
}

function endIfEndless({ said, end }: Life): void {
  if (said.method === 'subscriptions/listen') end();
}

function hasForgotten({ answer, agreed, refusal }: Sent): boolean {
  return agreed[SESSION] !== undefined && isForgotten(answer.status, answer.code, refusal);
}

/** Not what belongs to the forgotten session: its beginning, and answers to its requests. */
function isRepeatable({ ids, method }: JsonRpcText): boolean {
  return ids.length > 0 || (method !== undefined && method !== INITIALIZED);
}

import { bodyOf } from '../adapters/request-body.ts';
import { CliError } from '../core/errors.ts';
import { headersOfStateless, type JsonRpcText } from '../core/json-rpc.ts';
import type { Context } from './context.ts';
import { type DaemonAnswer, isGood, refusalOf } from './daemon-answer.ts';
import { type Exchange, relay } from './mcp-relay.ts';
import {
  type CallTarget,
  findTarget,
  readyCall,
  SILENCE_SECONDS_DEFAULT,
  type TargetOptions,
} from './signed-call.ts';

const ACCEPT = 'application/json, text/event-stream';
const SESSION = 'mcp-session-id';
const VERSION = 'mcp-protocol-version';
const INITIALIZED = 'notifications/initialized';

export interface McpSessionOptions {
  readonly context: Context;
  readonly intern: string;
  readonly path: string;
  readonly options: TargetOptions;
  readonly print: (line: string) => Promise<void>;
  /** Runs `work`, and once more after a sign-in if one was needed, which `over` ends. */
  readonly signedIn: <T>(work: () => Promise<T>, over: AbortSignal) => Promise<T>;
  /** Tells the client about requests that get no answer. */
  readonly fail: (ids: readonly (string | number)[], error: unknown) => Promise<void>;
}

/** What a request was answered, and the headers of the session that it was sent in. */
interface Sent {
  readonly answer: DaemonAnswer;
  readonly agreed: Readonly<Record<string, string>>;
  readonly origin: URL;
}

/**
 * Streamable HTTP (MCP 2025-03-26 to 2026-07-28) as far as it consists of POST requests. The session and the version
 * that `initialize` agrees on are sent with every later message. No proof covers these headers. A session that the server
 * has forgotten is begun again, which the client of a bridge cannot do: MCP answers it with 404, and it sees no status.
 */
export function createMcpSession(given: McpSessionOptions) {
  const { context, path, print, signedIn, fail } = given;
  const exchanges = new Set<Exchange>();
  const { timeout: silenceSeconds = SILENCE_SECONDS_DEFAULT } = given.options;
  let target: CallTarget | undefined;
  let agreed: Readonly<Record<string, string>> = {};
  /** The messages that began the session. */
  let opening: Pick<Exchange, 'line' | 'message'>[] = [];
  let renewing: Promise<boolean> | undefined;
  /** Aborted when no answer is waited for any more, with what the client is told. */
  const over = new AbortController();
  let isEnding = false;

  const { note } = context.terminal;
  const onVersion = (version: string): void => {
    agreed = { ...agreed, 'mcp-protocol-version': version };
  };

  function open(line: Buffer, message: JsonRpcText): Exchange {
    const now = { line, message, awaited: new Set(message.ids), ended: new AbortController() };
    exchanges.add(now);
    if (isEnding) endIfEndless(now);
    return now;
  }

  async function send({ line, message, ended }: Exchange, onFlushed?: () => void): Promise<Sent> {
    const interrupted = AbortSignal.any([context.interrupted, ended.signal, over.signal]);
    const isOutside = message.method === 'initialize' || message.version !== undefined;
    return signedIn(async () => {
      target ??= await findTarget(context, given.intern, given.options);
      const carried = isOutside ? {} : agreed;
      const headers = { accept: ACCEPT, ...carried, ...headersOfStateless(message) };
      const request = { path, headers, body: bodyOf(line), silenceSeconds, onFlushed };
      const { answer } = await readyCall({ ...context, interrupted }, target, request).send();
      return { answer, agreed: carried, origin: target.origin };
    }, over.signal);
  }

  /** Keeps the session that an answer to `initialize` begins. */
  function begin({ line, message }: Exchange, { answer }: Sent): void {
    const session = answer.headers['mcp-session-id'];
    agreed = typeof session === 'string' ? { [SESSION]: session } : {};
    opening = [{ line, message }];
  }

  async function exchange(now: Exchange, onFlushed?: () => void): Promise<void> {
    const { message, awaited, ended } = now;
    try {
      await renewing;
      let sent = await send(now, onFlushed);
      try {
        if (isForgotten(sent) && isRepeatable(message) && (await renew(sent.agreed))) {
          sent.answer.end();
          sent = await send(now);
        }
        if (message.method === 'initialize') begin(now, sent);
        if (message.method === INITIALIZED) opening = [...opening.slice(0, 1), now];
        await relay(sent.answer, sent.origin, now, { print, note, onVersion });
      } finally {
        sent.answer.end();
      }
      if (awaited.size > 0) throw lost(sent.origin, 'it ended without a response', true);
    } catch (error) {
      if (!ended.signal.aborted) await fail([...awaited], over.signal.aborted ? over.signal.reason : error);
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
    for (const { line, message } of lines) {
      const now = open(line, message);
      try {
        const sent = await send(now);
        try {
          if (!isGood(sent.answer)) throw refusalOf(sent.answer);
          if (message.method === 'initialize') begin(now, sent);
          // The client has its answer to `initialize` already.
          await relay(sent.answer, sent.origin, now, { print: async () => undefined, note, onVersion });
        } finally {
          sent.answer.end();
        }
      } finally {
        exchanges.delete(now);
      }
      if (agreed[VERSION] !== before[VERSION]) throw new Error('another version');
    }
    opening = lines;
    note('The daemon had forgotten the session; began another one.');
    return lines.length > 0;
  }

  /** A stateless request is cancelled by ending its stream. */
  function cancels({ cancels }: JsonRpcText): boolean {
    if (cancels === undefined) return false;
    const named = [...exchanges].find(({ awaited }) => awaited.has(cancels));
    if (named?.message.version === undefined) return false;
    named.ended.abort();
    return true;
  }

  return {
    /** Passes a message on. Neither promise rejects. */
    pass(
      line: Buffer,
      message: JsonRpcText,
    ): {
      /** The next message may be sent. */
      readonly isSent: Promise<void>;
      /** Everything that it caused has been written. */
      readonly isDone: Promise<void>;
    } {
      if (cancels(message)) return { isSent: Promise.resolve(), isDone: Promise.resolve() };
      const now = open(line, message);
      const flushed = Promise.withResolvers<void>();
      // What is not a request is answered at once, and what follows it may depend on it; so does what follows initialize.
      const isAwaited = message.ids.length === 0 || message.method === 'initialize';
      const isDone = exchange(now, isAwaited ? undefined : flushed.resolve).finally(() => {
        exchanges.delete(now);
        flushed.resolve();
      });
      return { isSent: flushed.promise, isDone };
    },
    /**
     * No message follows, but for those that wait. Ends the streams that have no last message at once, and every other after the
     * time that the daemon may be silent: one that sends comments is never silent.
     */
    end(): void {
      isEnding = true;
      exchanges.forEach(endIfEndless);
      setTimeout(() => {
        over.abort(
          target === undefined
            ? new CliError('sign_in_timed_out', { seconds: silenceSeconds })
            : lost(target.origin, `nothing arrived within ${silenceSeconds} s`),
        );
      }, silenceSeconds * 1000).unref();
    },
  };
}

/** The messages between an MCP client and the server behind a daemon. */
export type McpSession = ReturnType<typeof createMcpSession>;

function endIfEndless({ message, ended }: Exchange): void {
  if (message.method === 'subscriptions/listen') ended.abort();
}

function lost({ origin: address }: URL, why: string, isBegun = false): CliError {
  return new CliError('answer_lost', { address, why, isBegun });
}

/** MCP: the server answers 404 to a session that it does not know, and has carried out nothing. */
function isForgotten({ answer, agreed }: Sent): boolean {
  return answer.status === 404 && agreed[SESSION] !== undefined;
}

/** Not what belongs to the forgotten session: its beginning, and answers to its requests. */
function isRepeatable({ ids, method }: JsonRpcText): boolean {
  return ids.length > 0 || (method !== undefined && method !== INITIALIZED);
}

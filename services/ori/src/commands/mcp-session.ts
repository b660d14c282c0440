import { daemonPeer } from '../adapters/daemon.ts';
import { bodyOf } from '../adapters/request-body.ts';
import { CliError } from '../core/errors.ts';
import { headersOfStateless, isFieldValue, type JsonRpcText, readJsonRpc } from '../core/json-rpc.ts';
import type { Context } from './context.ts';
import { type DaemonAnswer, isGood, refusalOf, textOf } from './daemon-answer.ts';
import { type CallTarget, findTarget, readyCall, type TargetOptions } from './signed-call.ts';

const ACCEPT = 'application/json, text/event-stream';
const EVENT_CHARACTERS_MAX = 64 * 1024 * 1024;

export interface McpSessionOptions {
  readonly context: Context;
  readonly intern: string;
  readonly path: string;
  readonly options: TargetOptions;
  readonly print: (line: string) => Promise<void>;
  /** Runs `work`, and once more after a sign-in if one was needed. */
  readonly signedIn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Tells the client about requests that get no answer. */
  readonly fail: (ids: readonly (string | number)[], error: unknown) => Promise<void>;
}

/** The messages between an MCP client and the server behind a daemon. */
export interface McpSession {
  /** Passes a message on. Neither promise rejects. */
  pass(
    line: Buffer,
    message: JsonRpcText,
  ): {
    /** The next message may be sent. */
    readonly isSent: Promise<void>;
    /** Everything that it caused has been written. */
    readonly isDone: Promise<void>;
  };
  /** Ends the streams that have no last message. */
  endSubscriptions(): void;
}

interface Exchange {
  readonly message: JsonRpcText;
  /** The requests without an answer. */
  readonly awaited: Set<string | number>;
  readonly ended: AbortController;
}

/**
 * Streamable HTTP (MCP 2025-03-26 to 2026-07-28) as far as it consists of POST requests. The session and the version
 * that `initialize` agrees on are sent with every later message. No proof covers these headers.
 */
export function createMcpSession(given: McpSessionOptions): McpSession {
  const { context, path, print, signedIn, fail } = given;
  const exchanges = new Set<Exchange>();
  let target: CallTarget | undefined;
  let agreed: Record<string, string> = {};

  async function exchange(line: Buffer, now: Exchange, onFlushed?: () => void): Promise<void> {
    const { message, awaited, ended } = now;
    const interrupted = AbortSignal.any([context.interrupted, ended.signal]);
    const mine = { ...context, interrupted };
    const silenceSeconds = given.options.timeout;
    const isInitialize = message.method === 'initialize';
    const headers = {
      accept: ACCEPT,
      ...(isInitialize || message.version !== undefined ? {} : agreed),
      ...headersOfStateless(message),
    };
    try {
      const { answer, origin } = await signedIn(async () => {
        target ??= await findTarget(context, given.intern, given.options);
        const request = { path, headers, body: bodyOf(line), silenceSeconds, onFlushed };
        return { ...(await readyCall(mine, target, request).send()), origin: target.origin };
      });
      try {
        const session = answer.headers['mcp-session-id'];
        if (isInitialize) agreed = typeof session === 'string' ? { 'mcp-session-id': session } : {};
        await relay(answer, origin, now);
      } finally {
        answer.end();
      }
      if (awaited.size > 0) throw new CliError('answer_broke_off', daemonPeer(origin));
    } catch (error) {
      if (!ended.signal.aborted) await fail([...awaited], error);
    }
  }

  async function relay(answer: DaemonAnswer, origin: URL, now: Exchange): Promise<void> {
    const { awaited } = now;
    if (!isGood(answer)) {
      const text = await textOf(answer, origin);
      const said = readJsonRpc(text);
      if (typeof said === 'string' || said.error === undefined) throw refusalOf(answer, false);
      // Its id may be null, which no client can match to a request.
      const lines = [...awaited].map((id) => JSON.stringify({ jsonrpc: '2.0', id, error: said.error }));
      awaited.clear();
      for (const line of lines) await print(line);
      if (lines.length === 0) throw refusalOf(answer, false);
      return;
    }
    if (awaited.size === 0) return;
    const type = answer.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
    if (type === 'application/json') await tell(await textOf(answer, origin), origin, now);
    else if (type === 'text/event-stream') {
      for await (const data of eventsOf(answer, origin)) await tell(data, origin, now);
    } else throw notUnderstood(origin, `its media type is ${type ?? 'missing'}`);
  }

  /** Writes one message of the server. A response to anything but a request of this exchange is left out. */
  async function tell(text: string, origin: URL, { message, awaited }: Exchange): Promise<void> {
    const said = readJsonRpc(text);
    if (typeof said === 'string') throw notUnderstood(origin, 'it is not JSON-RPC');
    if (said.answers.some((id) => !awaited.delete(id))) {
      context.terminal.note('Left out a response of the daemon to a request that is not open.');
      return;
    }
    const { chosenVersion } = said;
    if (message.method === 'initialize' && chosenVersion !== undefined && isFieldValue(chosenVersion))
      agreed = { ...agreed, 'mcp-protocol-version': chosenVersion };
    // Line breaks of JSON are between its tokens.
    await print(text.replace(/[\r\n]+/g, ' '));
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
    pass(line, message) {
      if (cancels(message)) return { isSent: Promise.resolve(), isDone: Promise.resolve() };
      const now = { message, awaited: new Set(message.ids), ended: new AbortController() };
      exchanges.add(now);
      const flushed = Promise.withResolvers<void>();
      // What is not a request is answered at once, and what follows it may depend on it; so does what follows initialize.
      const isAwaited = message.ids.length === 0 || message.method === 'initialize';
      const isDone = exchange(line, now, isAwaited ? undefined : flushed.resolve).finally(() => {
        exchanges.delete(now);
        flushed.resolve();
      });
      return { isSent: flushed.promise, isDone };
    },
    endSubscriptions() {
      for (const { message, ended } of exchanges)
        if (message.method === 'subscriptions/listen') ended.abort();
    },
  };
}

async function* eventsOf({ body }: DaemonAnswer, origin: URL): AsyncIterable<string> {
  const { createParser } = await import('eventsource-parser');
  const waiting: string[] = [];
  const decoder = new TextDecoder();
  const parser = createParser({
    maxBufferSize: EVENT_CHARACTERS_MAX,
    onEvent: ({ event, data }) => {
      if (data !== '' && (event === undefined || event === 'message')) waiting.push(data);
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throw notUnderstood(origin, 'an event is too long');
    },
  });
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* waiting.splice(0);
  }
}

function notUnderstood(origin: URL, why: string): CliError {
  return new CliError('answer_not_understood', { ...daemonPeer(origin), why });
}

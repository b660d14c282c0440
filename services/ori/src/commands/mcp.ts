import { isUtf8 } from 'node:buffer';
import { printableJson } from '@ori/faces/printable';
import { linesOf } from '../adapters/lines.ts';
import { withSessionLock } from '../adapters/session-lock.ts';
import { CliError, isCliError } from '../core/errors.ts';
import { JSON_RPC_FAULTS, readJsonRpc } from '../core/json-rpc.ts';
import { requirePath } from '../core/proof-request.ts';
import { recordOf } from '../text/failure-record.ts';
import { requireSession } from './access.ts';
import { type Context, signInLock, variable } from './context.ts';
import { createMcpSession, type McpSession } from './mcp-session.ts';
import type { TargetOptions } from './signed-call.ts';

const MCP_PATH = '/mcp';
const LINE_BYTES_MAX = 64 * 1024 * 1024;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');
/** How many messages may wait for their answers, and how many for those before; further ones are read later. */
const OPEN_MAX = 256;

/**
 * Passes the JSON-RPC messages of stdin on, each as one signed POST, and writes the answers to stdout, one message per
 * line, until stdin ends and every answer has arrived.
 */
export async function mcp(
  context: Context,
  intern: string,
  path: string = MCP_PATH,
  options: TargetOptions = {},
): Promise<void> {
  requirePath(path);
  let printed: Promise<void> = Promise.resolve();
  const print = (line: string) => {
    printed = printed.then(() => context.terminal.printBody(once(Buffer.from(`${line}\n`))));
    return printed;
  };
  const session = createMcpSession({
    context,
    intern,
    path,
    options,
    print,
    signedIn: (work, over) => {
      const interrupted = AbortSignal.any([context.interrupted, over]);
      return signedIn({ ...context, interrupted }, work);
    },
    fail: (ids, error) => fail(context, print, ids, error),
  });
  const open = new Set<Promise<void>>();
  let waiting = 0;
  let taken: Promise<void> = Promise.resolve();
  const take = async (line: Buffer | undefined) => {
    await takeLine(session, line, open, (code, message) => print(errorOf(null, code, message)));
    if (open.size >= OPEN_MAX) await Promise.race(open);
    waiting -= 1;
  };
  // Reads on while a message waits for the one before, so that the end of stdin is noticed.
  for await (const line of linesOf(context.stdin, LINE_BYTES_MAX, context.interrupted)) {
    waiting += 1;
    taken = taken.then(() => take(line));
    if (waiting >= OPEN_MAX) await taken;
  }
  session.end();
  await taken;
  await Promise.all(open);
  if (context.interrupted.aborted) throw new CliError('interrupted', {});
}

/** Passes one line on. Resolves when the next one may follow. */
async function takeLine(
  session: McpSession,
  line: Buffer | undefined,
  open: Set<Promise<void>>,
  refuse: (code: number, message: string) => Promise<void>,
): Promise<void> {
  if (line === undefined) return refuse(JSON_RPC_FAULTS.invalid, 'The message is too long.');
  // With which PowerShell and .NET begin a stream.
  if (line.indexOf(BYTE_ORDER_MARK) === 0) line = line.subarray(BYTE_ORDER_MARK.length);
  const message = isUtf8(line) ? readJsonRpc(line.toString('utf8')) : 'parse';
  if (message === 'parse') return refuse(JSON_RPC_FAULTS.parse, 'The line is not JSON in UTF-8.');
  if (message === 'invalid')
    return refuse(JSON_RPC_FAULTS.invalid, 'The line is not a JSON-RPC 2.0 message.');
  const { isSent, isDone } = session.pass(line, message);
  open.add(isDone);
  void isDone.finally(() => open.delete(isDone));
  await isSent;
}

/**
 * Runs `work`; if nobody is signed in, signs in with a browser first, and runs it again. Of several processes, one signs
 * in. Nobody may see what it prints, so the terms must be those of an earlier `ori login`.
 */
async function signedIn<T>(context: Context, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isSignedOut(error) || variable(context, 'ORI_TOKEN') !== undefined) throw error;
  }
  const { login, WAIT_SECONDS_DEFAULT } = await import('./login.ts');
  // stdout carries nothing but JSON-RPC.
  const { note } = context.terminal;
  const result = (value: unknown, ...lines: string[]) =>
    note(...(context.json ? [printableJson(value)] : lines));
  const silent = { ...context, terminal: { ...context.terminal, result } };
  const signIn = async () => {
    if (await isSignedIn(context)) return;
    await login(silent, { browser: true, asBefore: true });
  };
  await withSessionLock(signInLock(context), context.interrupted, signIn, 2 * WAIT_SECONDS_DEFAULT);
  return work();
}

const isSignedOut = (error: unknown) =>
  isCliError(error, 'not_signed_in') || isCliError(error, 'session_ended');

async function isSignedIn(context: Context): Promise<boolean> {
  try {
    await requireSession(context);
    return true;
  } catch (error) {
    if (isSignedOut(error)) return false;
    throw error;
  }
}

/** Answers the requests that got no answer; what expects none is reported on stderr. */
async function fail(
  { terminal, interrupted, profileOption }: Context,
  print: (line: string) => Promise<void>,
  ids: readonly (string | number)[],
  error: unknown,
): Promise<void> {
  if (interrupted.aborted) return;
  const { message, ...data } = recordOf(error, profileOption);
  terminal.note(`${message} ${data.next}`);
  for (const id of ids) await print(errorOf(id, JSON_RPC_FAULTS.ours, `${message} ${data.next}`, data));
}

function errorOf(id: string | number | null, code: number, message: string, data?: object): string {
  return printableJson({ jsonrpc: '2.0', id, error: { code, message, data } });
}

async function* once(bytes: Buffer): AsyncIterable<Buffer> {
  yield bytes;
}

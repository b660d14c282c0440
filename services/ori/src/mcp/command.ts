import { isUtf8 } from 'node:buffer';
import { printableJson } from '@ori/faces/printable';
import { linesOf } from '../adapters/lines.ts';
import { CliError } from '../core/errors.ts';
import { requirePath } from '../core/proof-request.ts';
import type { TargetOptions } from '../delivery/signed-call.ts';
import type { Context } from '../session/context.ts';
import { recordOf } from '../text/failure-record.ts';
import { type Id, JSON_RPC_FAULTS, type JsonRpcText, readJsonRpc, requestsIn } from './json-rpc.ts';
import { createMcpSession } from './session.ts';
import { signedIn } from './sign-in.ts';

const MCP_PATH = '/mcp';
const LINE_BYTES_MAX = 64 * 1024 * 1024;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');
/** How many messages may wait for their answers. Further ones are sent later. */
const OPEN_MAX = 256;

/**
 * Passes the JSON-RPC messages of stdin on, each as one signed POST, and writes the answers to stdout, one message per
 * line, until stdin ends and every answer that is waited for has arrived.
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
  const refuse = async (code: number, message: string, ids: readonly Id[]) => {
    if (ids.length === 0) context.terminal.note(message);
    for (const id of ids) await print(errorOf(id, code, message));
  };
  const open = new Set<Promise<void>>();
  let queuedBytes = 0;
  let taken: Promise<void> = Promise.resolve();
  // Reads on while a message waits for the one before, so that a cancellation and the end of stdin are noticed.
  for await (const line of linesOf(context.stdin, LINE_BYTES_MAX, context.interrupted)) {
    const read = readLine(line);
    if ('fault' in read) {
      await refuse(read.fault, read.message, read.ids);
      continue;
    }
    const opened = session.open(read.line, read.said);
    queuedBytes += read.line.length;
    taken = taken.then(async () => {
      const { isSent, isDone } = session.pass(opened);
      open.add(isDone);
      void isDone.finally(() => open.delete(isDone));
      await isSent;
      if (open.size >= OPEN_MAX) await Promise.race(open);
      queuedBytes -= read.line.length;
    });
    if (queuedBytes >= LINE_BYTES_MAX) await taken;
  }
  session.end();
  await taken;
  await Promise.all(open);
  session.close();
  if (context.interrupted.aborted) throw new CliError('interrupted', {});
}

type Read =
  | { readonly line: Buffer; readonly said: JsonRpcText }
  /** With the requests in it: clients end at a response to none of their requests. */
  | { readonly fault: number; readonly message: string; readonly ids: readonly Id[] };

function readLine(line: Buffer | undefined): Read {
  if (line === undefined)
    return { fault: JSON_RPC_FAULTS.invalid, message: 'A message was too long.', ids: [] };
  // With which PowerShell and .NET begin a stream.
  if (line.indexOf(BYTE_ORDER_MARK) === 0) line = line.subarray(BYTE_ORDER_MARK.length);
  const text = line.toString('utf8');
  const said = isUtf8(line) ? readJsonRpc(text) : 'parse';
  if (typeof said !== 'string') return { line, said };
  const message =
    said === 'parse' ? 'The line is not JSON in UTF-8.' : 'The line is not a JSON-RPC 2.0 message.';
  return { fault: JSON_RPC_FAULTS[said], message, ids: requestsIn(text) };
}

/** Answers the requests that got no answer; what expects none is reported on stderr. */
async function fail(
  { terminal, interrupted, profileOption }: Context,
  print: (line: string) => Promise<void>,
  ids: readonly Id[],
  error: unknown,
): Promise<void> {
  if (interrupted.aborted) return;
  const { message, ...data } = recordOf(error, profileOption);
  terminal.note(`${message} ${data.next}`);
  for (const id of ids) await print(errorOf(id, JSON_RPC_FAULTS.ours, `${message} ${data.next}`, data));
}

function errorOf(id: Id, code: number, message: string, data?: object): string {
  return printableJson({ jsonrpc: '2.0', id, error: { code, message, data } });
}

async function* once(bytes: Buffer): AsyncIterable<Buffer> {
  yield bytes;
}

import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { printableJson } from '@ori/faces/printable';
import type { ProofHeaderValues } from '@ori/proof/wire';
import { bodyOfStream } from '../adapters/request-body.ts';
import { isCliError } from '../core/errors.ts';
import { EXIT, type ExitCode } from '../core/exit-codes.ts';
import { answeredHeaders, passedHeaders } from '../core/extra-headers.ts';
import { isNotCarriedOut } from '../core/failures/daemon-advice.ts';
import {
  type CallRequest,
  type CallTarget,
  findTarget,
  readyCall,
  type TargetOptions,
} from '../delivery/signed-call.ts';
import { untilInterrupted } from '../session/context.ts';
import { interruptedBy, type Profile } from '../session/profile.ts';
import { recordOf } from '../text/failure-record.ts';
import { createRepeats } from './repeats.ts';
import { corsHeaders, isPreflight, parseOrigin, requirePlace, requireSignable } from './request.ts';
import { type ProxyExchange, startProxyServer } from './server.ts';

export interface ProxyOptions extends TargetOptions {
  /** 0, the default, is any free port. */
  readonly port?: number;
  readonly allowOrigin?: readonly string[];
}

/** Signs what this person's programs send to a loopback address, and passes it to the daemon, until interrupted. */
export async function proxy(profile: Profile, intern: string, options: ProxyOptions): Promise<void> {
  const origins = (options.allowOrigin ?? []).map(parseOrigin);
  const target = await findTarget(profile, intern, options);
  const serving = { target, repeats: createRepeats(), silenceSeconds: options.timeout };
  await using server = await startProxyServer({ port: options.port ?? 0, origins }, (exchange) =>
    serve(serving, exchange),
  );
  const { url, secret } = server;
  profile.terminal.result({ url, secret }, url);
  profile.terminal.note(
    `POST requests to this address are signed as you, for ${target.internId} at ${target.origin.origin}.`,
    'Whoever knows it acts in your name until you stop ori proxy (Ctrl-C).',
  );
  await untilInterrupted(profile);
}

interface Serving {
  readonly target: CallTarget;
  readonly repeats: ReturnType<typeof createRepeats>;
  readonly silenceSeconds: number | undefined;
}

/** One request. Reports it in one line, without what a stranger sent. */
async function serve(
  { target, repeats, silenceSeconds }: Serving,
  { request, response, rules, closed }: ProxyExchange,
): Promise<void> {
  const start = performance.now();
  const asked = { method: request.method ?? '', target: request.url ?? '', headers: request.headers };
  let path = '';
  let cors: Record<string, string> = {};
  let bytes = 0;
  let code: string | undefined;
  try {
    requirePlace(asked, rules);
    cors = corsHeaders(asked);
    if (isPreflight(asked) && asked.headers.origin !== undefined) {
      response.writeHead(204, cors).end();
      return;
    }
    path = requireSignable(asked, rules);
    const profile = interruptedBy(target.profile, closed);
    await using body = await bodyOfStream(request, 'the request', profile.interrupted);
    bytes = body.bytes;
    const headers = passedHeaders(request.headers);
    const contentType = request.headers['content-type'];
    // A program of HTTP/1.0 would take the cut for the end.
    const isPassedOn = () => request.httpVersion !== '1.0';
    const call = { path, contentType, headers, body, silenceSeconds, isPassedOn };
    const pass = async (more: Pick<CallRequest, 'earlier' | 'onSigned'>) => {
      const { answer } = await readyCall({ ...target, profile }, { ...call, ...more }).send();
      try {
        const given = answeredHeaders(answer.headers);
        // Its last byte would say that all is well, before the proof does.
        if (answer.proven === 'at its end') delete given['content-length'];
        response.writeHead(answer.status, { ...given, ...cors });
        response.flushHeaders();
        await pipeline(answer.body, response);
      } finally {
        answer.end();
      }
      return isNotCarriedOut(answer.status, answer.code);
    };
    const key = request.headers['idempotency-key'];
    if (typeof key !== 'string') await pass({});
    else
      await repeats.run(key, `${body.sha256} ${contentType} ${path}`, async (repeated) => {
        const onSigned = (proof: ProofHeaderValues) => Object.assign(repeated, { proof });
        if (await pass({ earlier: repeated.proof, onSigned })) delete repeated.proof;
      });
  } catch (error) {
    const record = recordOf(error);
    code = isCliError(error, 'not_proxied') ? error.facts.why : record.code;
    if (closed.aborted && !response.writableFinished) code = 'aborted';
    // The program that called is told no more than by the cut.
    else if (response.headersSent) target.profile.terminal.note(record.message, record.next);
    refuse(response, error, cors);
    request.resume();
  }
  const ms = Math.round(performance.now() - start);
  const status = response.statusCode;
  const record = { method: 'POST', path, status, bytes, ms, ...(code === undefined ? {} : { code }) };
  const shown = path === '' ? 'refused' : `POST ${path}`;
  target.profile.terminal.event(
    record,
    `${shown} ${status}${code === undefined ? '' : ` (${code})`}, ${bytes} bytes, ${ms} ms`,
  );
}

/** Answers with a failure of ours, or ends an answer that has begun. */
function refuse(response: ServerResponse, error: unknown, cors: Record<string, string>): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const record = recordOf(error);
  response.writeHead(statusOf(error, record.exit), {
    'content-type': 'application/json',
    'x-ori-proxy-error': record.code,
    connection: 'close',
    ...(record.retry_after === undefined ? {} : { 'retry-after': String(record.retry_after) }),
    ...cors,
  });
  response.end(printableJson({ error: record }));
}

const PROXY_STATUS = { host: 421, origin: 403, secret: 403, method: 405, coding: 415, key: 422 } as const;
const STATUS: Readonly<Partial<Record<ExitCode, number>>> = {
  [EXIT.unexpected]: 500,
  [EXIT.usage]: 400,
  [EXIT.signInNeeded]: 401,
  [EXIT.refused]: 403,
  [EXIT.rateLimited]: 429,
};

function statusOf(error: unknown, exit: ExitCode): number {
  if (isCliError(error, 'not_proxied')) return PROXY_STATUS[error.facts.why];
  if (isCliError(error, 'timed_out')) return 504;
  return STATUS[exit] ?? 502;
}

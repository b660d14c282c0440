import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { CliError } from '../core/errors.ts';
import { type CallbackOutcome, PAGE_HEADERS, renderCallback } from '../text/callback-page.ts';
import { listen } from './listen.ts';

/** The page that the browser ends on, whose address has no code. */
const DONE = '/signed-in';
const PAGE_MS = 2000;

/** The browser's visit that ends a sign-in: its URL, and a way to send the page that it waits for. */
interface CallbackVisit {
  readonly url: URL;
  /** Resolves when the browser has the page, at an address without the code. `name` is the person's. */
  answer(outcome: CallbackOutcome, name?: string): Promise<void>;
}

/**
 * Listens for the issuer's redirect on this or a free port of 127.0.0.1 (RFC 8252, section 7.3), until disposed of.
 * Throws CliError `usage` if the port cannot be used.
 */
export async function startCallbackServer(state: string, port = 0) {
  const visit = Promise.withResolvers<CallbackVisit>();
  visit.promise.catch(() => {});
  let origin = '';
  let last: { readonly outcome: CallbackOutcome; readonly name: string | undefined } | undefined;
  /** A browser may load the page twice: ahead of the person, or again while the first answer is awaited. */
  const visits: ServerResponse[] = [];
  const server = createServer({ maxHeaderSize: 32 * 1024, requestTimeout: 10_000 }, (request, response) => {
    if (!isForUs(request, origin)) return send(response, 404, 'unknown');
    if (request.url === DONE && last !== undefined)
      return send(response, last.outcome === 'signed in' ? 200 : 400, last.outcome, last.name);
    const url = new URL(request.url ?? '/', origin);
    if (url.searchParams.get('state') !== state) return send(response, 400, 'unknown');
    visits.push(response);
    visit.resolve({
      url,
      async answer(outcome, name) {
        last = { outcome, name };
        await redirected(server, visits);
      },
    });
  });
  const next = 'Stop what uses it, or have the issuer allow another port: --redirect-port';
  const listening = await listen(server, { port }, next);
  origin = `http://127.0.0.1:${listening.port}`;
  return {
    ...listening,
    redirectUri: `${origin}/callback`,
    /**
     * The first visit with our state. Others are answered and ignored, because any page could send the browser here.
     * Throws CliError `sign_in_timed_out` or `interrupted`.
     */
    async visited(waitSeconds: number, signal: AbortSignal): Promise<CallbackVisit> {
      const timer = setTimeout(
        () =>
          visit.reject(
            new CliError('sign_in_timed_out', { seconds: waitSeconds, redirectUri: `${origin}/callback` }),
          ),
        waitSeconds * 1000,
      );
      const interrupt = () => visit.reject(new CliError('interrupted', {}));
      signal.addEventListener('abort', interrupt, { once: true });
      if (signal.aborted) interrupt();
      try {
        return await visit.promise;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', interrupt);
      }
    },
  };
}

// The Host is checked too, so that a name that resolves to 127.0.0.1 (DNS rebinding) cannot read the answer.
function isForUs(request: IncomingMessage, origin: string): boolean {
  const path = request.url?.split('?', 1)[0];
  return (
    request.method === 'GET' &&
    (path === '/callback' || path === DONE) &&
    `http://${request.headers.host}` === origin
  );
}

/** Sends the browser to the page without the code. It may never ask for that page, so the wait ends. */
async function redirected(server: Server, visits: readonly ServerResponse[]): Promise<void> {
  const waiting = visits.filter((response) => !response.closed);
  if (waiting.length === 0) return;
  const late = AbortSignal.timeout(PAGE_MS);
  const asked = once(server, 'request', { signal: late }).catch(() => undefined);
  for (const response of waiting) response.writeHead(303, { ...PAGE_HEADERS, location: DONE }).end();
  const page: ServerResponse | undefined = (await asked)?.[1];
  if (page !== undefined && !page.closed) await once(page, 'close', { signal: late }).catch(() => undefined);
}

function send(response: ServerResponse, status: number, outcome: CallbackOutcome, name?: string): void {
  response.writeHead(status, PAGE_HEADERS);
  response.end(renderCallback(outcome, name));
}

import { readFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { pageHeaders } from '@ori/faces/html';
import { BodyError, readBody } from '@ori/http/body';
import type { Presentation } from '@ori/http/presentation';
import { createExpressApp } from '@ori/http/routes';
import { isPath, PROOF_HEADERS } from '@ori/proof';
import { renderStartPage, type StartFacts } from './page.ts';
import { askApi, askForProof, type Call, changeAnswer, sendCall, sessionOf } from './play.ts';

const SCRIPT = readFileSync(new URL('./page.js', import.meta.url));
const HEADERS: ReadonlySet<string> = new Set(Object.values(PROOF_HEADERS));
const BYTES_MAX = 64 * 1024;

/** The page, its script, and what the script asks for: a proof, a call, any request to the API. */
export function startRoutes(facts: StartFacts): RequestListener {
  const page = renderStartPage(facts);
  const { baseUrl, daemons, users } = facts;
  const member = (user: unknown) => {
    if (!users.some(({ name }) => name === user)) throw new Unacceptable(400, 'user: not a demo member.');
    return String(user);
  };
  const ours = new RegExp(`^http://(?:127\\.0\\.0\\.1|localhost|\\[::1\\]):${new URL(baseUrl).port}$`);
  const content = async (req: IncomingMessage) => {
    // Other pages of this browser may not play, not even under a name of theirs that leads here.
    if (!ours.test(req.headers.origin ?? ''))
      throw new Unacceptable(403, 'Only the start page may ask for this.');
    return readContent(req);
  };
  return createExpressApp({
    routes: [
      {
        template: '/',
        method: 'GET',
        handler: (_req, res) => void res.writeHead(200, pageHeaders({ scripts: true })).end(page),
      },
      {
        template: '/start.js',
        method: 'GET',
        handler: (_req, res) => void res.writeHead(200, SCRIPT_HEADERS).end(SCRIPT),
      },
      {
        template: '/start/proof',
        method: 'POST',
        async handler(req, res) {
          const { user, path, body } = await content(req);
          const call = callOf({ path, body });
          send(res, await askForProof(facts, await sessionOf(facts, member(user), 'vault:read'), call));
        },
      },
      {
        template: '/start/call',
        method: 'POST',
        async handler(req, res) {
          const { intern, proof, path, body } = await content(req);
          const daemon = Object.entries(daemons).find(([name]) => name === intern)?.[1];
          if (daemon === undefined) throw new Unacceptable(400, 'intern: has no daemon here.');
          send(res, await sendCall(daemon, { ...callOf({ path, body }), proof: proofOf(proof) }));
        },
      },
      {
        template: '/start/answer',
        method: 'POST',
        async handler(req, res) {
          const { user, path, body } = await content(req);
          const call = callOf({ path, body });
          send(res, await changeAnswer(facts, await sessionOf(facts, member(user), 'vault:read'), call));
        },
      },
      {
        template: '/start/api',
        method: 'POST',
        async handler(req, res) {
          const { user, request, body } = await content(req);
          send(res, await askApi(facts, { user: member(user), ...apiRequestOf(baseUrl, request, body) }));
        },
      },
    ],
    notFound: { status: 404, message: 'Not found.' },
    present: (error) => (error instanceof Unacceptable ? error.presentation : undefined),
  });
}

const SCRIPT_HEADERS = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

class Unacceptable extends Error {
  readonly presentation: Presentation;

  constructor(status: number, message: string) {
    super(message);
    this.presentation = { status, message };
  }
}

async function readContent(req: IncomingMessage): Promise<Record<string, unknown>> {
  const bytes = await readBody(req, { bytesMax: BYTES_MAX }).catch((error) => {
    throw error instanceof BodyError ? new Unacceptable(413, `At most ${BYTES_MAX} bytes.`) : error;
  });
  try {
    return { ...JSON.parse(bytes.toString()) };
  } catch {
    throw new Unacceptable(400, 'The body is not JSON.');
  }
}

function callOf({ path, body }: { path: unknown; body: unknown }): Omit<Call, 'proof'> {
  if (typeof path !== 'string' || !isPath(path)) {
    throw new Unacceptable(400, 'path: expected / and printable ASCII, without a query.');
  }
  if (typeof body !== 'string') throw new Unacceptable(400, 'body: expected a string.');
  return { path, body };
}

/** `GET /interns`: the session goes nowhere but to the API. */
function apiRequestOf(baseUrl: string, request: unknown, body: unknown) {
  const [, method = '', path = ''] =
    /^(GET|POST|PUT|PATCH|DELETE) (\/[!-~]{0,2000})$/.exec(String(request)) ?? [];
  const url = URL.canParse(baseUrl + path) ? new URL(baseUrl + path) : undefined;
  if (method === '' || !url?.href.startsWith(`${baseUrl}/`)) {
    throw new Unacceptable(400, 'request: expected a method and a path of the API, such as GET /interns.');
  }
  return { method, url, body: method === 'GET' || body === '' ? undefined : String(body ?? '') };
}

function proofOf(value: unknown): Call['proof'] {
  const entries = Object.entries(value ?? {});
  const isSendable = ([name, text]: [string, unknown]) =>
    HEADERS.has(name) && /^[!-~]{0,2048}$/.test(String(text));
  if (!entries.every(isSendable)) throw new Unacceptable(400, 'proof: expected the headers of a proof.');
  return Object.fromEntries(entries.map(([name, text]) => [name, String(text)]));
}

function send(res: ServerResponse, value: unknown): void {
  res.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  res.end(JSON.stringify(value));
}

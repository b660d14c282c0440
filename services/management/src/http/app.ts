import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { DeadlineError } from '@ori/service-kit/deadline';
import { type Presentation, sendEnvelope } from '@ori/service-kit/envelope';
import { exchangeOf } from '@ori/service-kit/exchange';
import { matchPath, parseTarget } from '@ori/service-kit/target';
import type { Callers } from '../adapters/callers.ts';
import { Refusal } from '../core/refusal.ts';
import type { Operation } from './operation.ts';
import { present } from './presentation.ts';
import { type PublishedFile, sendPublishedFile } from './published-file.ts';
import { readJson, readQuery } from './read-call.ts';
import type { Services } from './services.ts';

export interface AppOptions {
  /** The path of the base address, such as `/v1`. */
  readonly basePath: string;
  readonly operations: readonly Operation[];
  /** What is the same for everyone: the description of the API, and the page that shows it. */
  readonly files: readonly PublishedFile[];
  /** Host names, lower case, on which intern operations are refused. */
  readonly regionalHosts: ReadonlySet<string>;
  readonly callers: Callers;
  readonly services: Services;
}

/**
 * The management API. Every request passes the same judgements in the same order: host, credential, permission,
 * path and query, body; then its operation runs.
 */
export function createApp({
  basePath,
  operations,
  files,
  regionalHosts,
  callers,
  services,
}: AppOptions): RequestListener {
  const published = new Map(files.map((file) => [basePath + file.path, file]));
  return (req, res) => {
    const path = parseTarget(req.url)?.path ?? '';
    const file = published.get(path);
    if (file !== undefined) {
      exchangeOf(req).route = path;
      if (req.method !== 'GET' && req.method !== 'HEAD') sendOtherMethod(res, 'GET, HEAD');
      else sendPublishedFile(req, res, file);
      return;
    }
    const matched = operations.flatMap((operation) => {
      const parameters = matchPath(basePath + operation.path, path);
      return parameters === undefined ? [] : [{ operation, parameters }];
    });
    const found = matched.find(({ operation }) => operation.method === req.method);
    if (found === undefined)
      return sendNoOperation(
        res,
        matched.map(({ operation }) => operation),
      );
    const { operation, parameters } = found;
    const exchange = exchangeOf(req);
    exchange.route = basePath + operation.path;
    exchange.deadlineAnswer = present(
      new DeadlineError(exchange.deadline.ms),
      operation.family,
      operation.refusals,
    );
    serve(operation, parameters, req, res).catch((error: unknown) => {
      exchange.error ??= error;
      if (res.headersSent) res.destroy();
      else sendEnvelope(res, present(error, operation.family, operation.refusals));
    });
  };

  async function serve(
    operation: Operation,
    parameters: Readonly<Record<string, string>>,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    const { deadline } = exchangeOf(req);
    if (operation.family === 'Interns') requireHost(req, regionalHosts);
    const principal = operation.permit(await deadline.race(callers.identify(valuesOf(req, 'authorization'))));
    const call = {
      principal,
      path: decode(parameters),
      query: operation.query && readQuery(operation.query, parseTarget(req.url)?.query),
      body: operation.body && (await readJson(operation.body, req)),
      deadline,
    };
    if ('send' in operation) {
      const ifNoneMatch = req.headers['if-none-match'];
      const file = await deadline.race(operation.send({ ...call, ifNoneMatch }, services));
      for (const [name, value] of Object.entries(file.headers)) res.setHeader(name, value);
      res.statusCode = file.status;
      res.end(file.bytes);
      return;
    }
    const result = await deadline.race(operation.run(call, services));
    res.statusCode = operation.status;
    res.setHeader('content-type', 'application/json');
    res.setHeader('cache-control', 'no-store');
    res.end(JSON.stringify(result));
  }
}

/** A parameter that does not decode names nothing. */
function decode(parameters: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => {
      try {
        return [name, decodeURIComponent(value)];
      } catch {
        return [name, ''];
      }
    }),
  );
}

/** Intern operations live on the global host name alone. */
function requireHost(req: IncomingMessage, regionalHosts: ReadonlySet<string>): void {
  const host = req.headers.host?.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();
  if (host === undefined || !regionalHosts.has(host)) return;
  throw new Refusal('regional_host_refused', 'Intern operations are refused on regional host names.');
}

const NOT_FOUND: Presentation = { status: 404, message: 'Not found.' };

/** What a path is told that has no operation, or none of the method. */
function sendNoOperation(res: ServerResponse, ofOtherMethods: readonly Operation[]): void {
  const allow = ofOtherMethods.map(({ method }) => method).join(', ');
  if (allow === '') sendEnvelope(res, NOT_FOUND);
  else sendOtherMethod(res, allow);
}

function sendOtherMethod(res: ServerResponse, allow: string): void {
  sendEnvelope(res, { status: 405, message: `This path only takes ${allow}.`, headers: { Allow: allow } });
}

/** Every value of a header in the raw list: `req.headers` hides repeated ones. */
function valuesOf(req: IncomingMessage, name: string): string[] {
  return req.rawHeaders.filter(
    (_, index, list) => index % 2 === 1 && list[index - 1]?.toLowerCase() === name,
  );
}

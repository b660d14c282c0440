import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DpopNonces } from '@ori/dpop';
import { DeadlineError } from '@ori/http/deadline';
import { type Presentation, sendEnvelope } from '@ori/http/envelope';
import { errorHandler } from '@ori/http/error-handler';
import { countFor, exchangeOf } from '@ori/http/exchange';
import { valuesOf } from '@ori/http/raw-headers';
import { isRegionalHost } from '@ori/http/regional-host';
import { type Route, routeStrictly } from '@ori/http/routes';
import { type PathParameters, parseTarget } from '@ori/http/target';
import { createFairPlaces } from '@ori/runtime/fair-places';
import express, { type Express } from 'express';
import type { Principal } from '../callers/caller.ts';
import type { Callers } from '../callers/identify.ts';
import { Refusal } from '../refusal.ts';
import { jsonPieces } from './json-pieces.ts';
import type { Call, Operation } from './operation.ts';
import { present } from './presentation.ts';
import { type PublishedFile, sendPublishedFile } from './published-file.ts';
import { readJson, readQuery } from './read-call.ts';
import type { Services } from './services.ts';

export interface AppOptions {
  /** The public base address, without a trailing slash. */
  readonly baseUrl: string;
  readonly operations: readonly Operation[];
  /** Static files: the description of the API, and the page that shows it. */
  readonly files: readonly PublishedFile[];
  /** Host names, lower case, on which intern operations are refused. */
  readonly regionalHosts: ReadonlySet<string>;
  readonly callers: Callers;
  readonly dpopNonces: DpopNonces;
  /** How many operations run concurrently; accounts take turns, and each gets at most a third of them, rounded up. */
  readonly operationsMax: number;
  readonly services: Services;
}

/**
 * The management API. Every request is checked in the same order: host, credential, permission, path and query, body;
 * then its operation runs.
 */
export function createApp({
  baseUrl,
  operations,
  files,
  regionalHosts,
  callers,
  dpopNonces,
  operationsMax,
  services,
}: AppOptions): Express {
  const { origin, pathname: basePath } = new URL(baseUrl);
  const published = files.map(
    (file): Route => ({
      template: basePath + file.path,
      method: 'GET',
      handler: async (req, res) => sendPublishedFile(req, res, file),
    }),
  );
  const routes = operations.map(
    (operation): Route => ({
      template: basePath + operation.path,
      method: operation.method,
      handler: (req, res, parameters) => answer(operation, parameters, req, res),
    }),
  );
  const places = createFairPlaces({
    ...{ budget: 'work', places: operationsMax, placesPerKey: Math.ceil(operationsMax / 3) },
    ...{ waitingPerKeyMax: 64, waitingMax: 1000 },
  });
  const inPlace = <T>({ principal, deadline }: Call<Principal, unknown, unknown>, run: () => Promise<T>) =>
    places(principal.account, deadline, run);
  const app = express();
  app.disable('x-powered-by');
  app.disable('query parser');
  app.use(routeStrictly([...published, ...routes], NOT_FOUND));
  app.use(errorHandler(() => undefined));
  return app;

  /** Each family of operations has its own error format, also at the deadline. */
  async function answer(
    operation: Operation,
    parameters: PathParameters,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    const exchange = exchangeOf(req);
    // Every answer to a proof contains the nonce for the next one: RFC 9449, section 8.2.
    if (req.headers['dpop'] !== undefined) res.setHeader('DPoP-Nonce', dpopNonces.current());
    exchange.deadlineAnswer = present(new DeadlineError(exchange.deadline.ms), operation);
    try {
      await serve(operation, parameters, req, res);
    } catch (error) {
      if (res.headersSent) throw error;
      exchange.error ??= error;
      sendEnvelope(res, present(error, operation));
    }
  }

  async function serve(
    operation: Operation,
    parameters: PathParameters,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    const exchange = exchangeOf(req);
    const { deadline, client, network } = exchange;
    if (operation.family === 'Interns') requireHost(req, regionalHosts);
    const caller = await deadline.race(
      callers.identify({
        authorizations: valuesOf(req, 'authorization'),
        network,
        proofs: valuesOf(req, 'dpop'),
        method: req.method ?? '',
        target: {
          origin: isRegionalHost(client.authority, regionalHosts) ? regional(client.authority) : origin,
          path: parseTarget(req.url)?.path ?? '',
        },
      }),
    );
    const principal = operation.permit(caller);
    countFor(exchange, principal.account);
    const call = {
      principal,
      path: decode(parameters),
      query: operation.query && readQuery(operation.query, parseTarget(req.url)?.query),
      body: operation.body && (await readJson(operation.body, req)),
      deadline,
    };
    if ('send' in operation) {
      const ifNoneMatch = req.headers['if-none-match'];
      const file = await deadline.race(
        inPlace(call, () => operation.send({ ...call, ifNoneMatch }, services)),
      );
      for (const [name, value] of Object.entries(file.headers)) res.setHeader(name, value);
      res.statusCode = file.status;
      res.end(file.bytes);
      return;
    }
    const pieces = await deadline.race(
      inPlace(call, async () => jsonPieces((await operation.run(call, services)) as object)),
    );
    res.statusCode = operation.status;
    res.setHeader('content-type', 'application/json');
    res.setHeader('cache-control', 'no-store');
    res.setHeader(
      'content-length',
      pieces.reduce((sum, { length }) => sum + length, 0),
    );
    for (const piece of pieces) res.write(piece);
    res.end();
  }

  /** The origin of a request to a regional host name, with the scheme of the public origin. */
  function regional(authority = ''): string {
    return new URL(`${new URL(origin).protocol}//${authority}`).origin;
  }
}

/** A parameter that does not decode does not name anything. */
function decode(parameters: PathParameters): Record<string, string> {
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

/** Intern operations are only served on the global host name. */
function requireHost(req: IncomingMessage, regionalHosts: ReadonlySet<string>): void {
  if (!isRegionalHost(exchangeOf(req).client.authority, regionalHosts)) return;
  throw new Refusal('regional_host_refused');
}

const NOT_FOUND: Presentation = { status: 404, message: 'Not found.' };

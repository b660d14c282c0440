import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { DeadlineError } from '@ori/http/deadline';
import { sendEnvelope } from '@ori/http/envelope';
import { countFor, exchangeOf } from '@ori/http/exchange';
import type { Presentation } from '@ori/http/presentation';
import { valuesOf } from '@ori/http/raw-headers';
import { isRegionalHost } from '@ori/http/regional-host';
import { createExpressApp, type Request, type Route } from '@ori/http/routes';
import { parseTarget } from '@ori/http/target';
import type { DpopNonces } from '@ori/identity/dpop/nonces';
import { createFairSemaphore } from '@ori/runtime/fair-semaphore';
import { LIMITS } from '@ori/runtime/limits';
import { actorOf } from '../callers/caller.ts';
import type { Callers } from '../callers/identify.ts';
import type { JsonOperation, Operation, Services } from '../operation.ts';
import { present } from '../presentation.ts';
import { Refusal } from '../refusal.ts';
import { execute, readerOf, readOnlyOf, sendExecuted } from './execute.ts';
import { readId } from './path-parameters.ts';
import { readBody, readQuery } from './read-call.ts';
import { type PublishedFile, sendPublishedFile } from './reference-files.ts';

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
}: AppOptions): RequestListener {
  const { origin, pathname: basePath } = new URL(baseUrl);
  const published = files.map(
    (file): Route => ({
      template: basePath + file.path,
      method: 'GET',
      handler: (req, res) => sendPublishedFile(req, res, file),
    }),
  );
  const routes = operations.map(
    (operation): Route => ({
      template: basePath + operation.path,
      method: operation.method,
      handler: (req, res) => answer(operation, req, res),
    }),
  );
  const turns = createFairSemaphore({
    budget: 'work',
    budgetPerKey: 'account',
    waitingPerKeyMax: LIMITS.requestsInFlightPerAccountMax,
    waitingMax: LIMITS.requestsInFlightMax,
    permits: operationsMax,
    permitsPerKey: Math.ceil(operationsMax / 3),
  });
  const readers = new Map<Operation, JsonOperation | undefined>(
    operations.map((operation) => [operation, readerOf(operation, operations)]),
  );
  return createExpressApp({
    routes: [...published, ...routes],
    notFound: NOT_FOUND,
    present: () => undefined,
  });

  /** Each family of operations has its own error format, also at the deadline. */
  async function answer(
    operation: Operation,
    req: Request<Record<string, string>>,
    res: ServerResponse,
  ): Promise<void> {
    const exchange = exchangeOf(req);
    exchange.deadlineAnswer = present(new DeadlineError(exchange.deadline.ms), operation);
    try {
      await serve(operation, req, res);
    } catch (error) {
      if (res.headersSent) throw error;
      exchange.error ??= error;
      sendEnvelope(res, present(error, operation));
    }
  }

  async function serve(
    operation: Operation,
    req: Request<Record<string, string>>,
    res: ServerResponse,
  ): Promise<void> {
    const exchange = exchangeOf(req);
    const { deadline, client, network } = exchange;
    if (operation.family === 'Interns') requireHost(req, regionalHosts);
    const identifying = deadline.race(
      callers.identify({
        authorizations: valuesOf(req, 'authorization'),
        network,
        proofs: valuesOf(req, 'dpop'),
        method: req.method ?? '',
        target: {
          origin: isRegionalHost(client.authority, regionalHosts) ? regional(client.authority) : origin,
          path: parseTarget(req.originalUrl)?.path ?? '',
        },
      }),
    );
    const { caller, proven } = await identifying.finally(() => {
      // Every answer to a proof contains the nonce for the next one: RFC 9449, section 8.2.
      if (req.headers['dpop'] !== undefined && !res.headersSent)
        res.setHeader('DPoP-Nonce', dpopNonces.current());
    });
    const actor = actorOf(caller);
    if (actor !== undefined) exchange.facts['actor'] = actor;
    const principal = operation.permit(caller);
    countFor(exchange, principal.account);
    const reader = readers.get(operation);
    const query = readQuery(operation, parseTarget(req.originalUrl)?.query);
    const content = await readBody(operation.body, req, proven, readOnlyOf(operation, reader));
    const call = {
      principal,
      id: readId(operation.path, req.params),
      target: parseTarget(req.originalUrl)?.path ?? '',
      query,
      ...content,
      deadline,
    };
    const conditions = {
      ifMatch: req.headers['if-match'],
      ifNoneMatch: req.headers['if-none-match'],
      idempotencyKey: onlyOne(valuesOf(req, 'idempotency-key')),
    };
    if ('refuseCostly' in operation) await deadline.race(operation.refuseCostly(call, services));
    const { account } = principal;
    const executed = turns(account, deadline, () =>
      execute(operation, call, conditions, { services, reader, actor }),
    );
    sendExecuted(res, await deadline.race(executed));
  }

  /** The origin of a request to a regional host name, with the scheme of the public origin. */
  function regional(authority = ''): string {
    return new URL(`${new URL(origin).protocol}//${authority}`).origin;
  }
}

function onlyOne(values: readonly string[]): string | undefined {
  if (values.length > 1) throw new Refusal('invalid_parameters', 'Idempotency-Key: given more than once.');
  return values[0];
}

/** Intern operations are only served on the global host name. */
function requireHost(req: IncomingMessage, regionalHosts: ReadonlySet<string>): void {
  if (!isRegionalHost(exchangeOf(req).client.authority, regionalHosts)) return;
  throw new Refusal('regional_host_refused');
}

const NOT_FOUND: Presentation = { status: 404, message: 'Not found.' };

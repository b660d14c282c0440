import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import { extname } from 'node:path';
import type { Attributes, Span } from '@opentelemetry/api';
import type { Logger } from '@ori/runtime/log';
import type { Secret } from '@ori/runtime/secret';
import { VERSION } from '@ori/runtime/version';
import { findExchange } from '../server/exchange.ts';
import { parseTraceparent } from './traceparent.ts';
import type { SpanSource, SpanSourceOptions } from './tracing-sdk.ts';

/** Spans for the requests of a service and for the calls that they make to its dependencies. */
export interface Tracing {
  /** Makes a span for each request, below the one that `traceparent` names. */
  serve(app: RequestListener): RequestListener;
  /** Makes a span, below the request's, for each call of an asynchronous method during a request. */
  part<Part extends object>(dependency: string, part: Part): Part;
  /** `fetch`, with a span for each call during a request. */
  readonly fetch: typeof fetch;
  /** Exports the remaining spans, for up to two seconds. */
  close(): Promise<void>;
}

export interface TracingOptions {
  readonly service: string;
  readonly config: {
    readonly otlpEndpoint?: string | undefined;
    readonly redisUrl?: Secret | undefined;
    readonly databaseUrl?: Secret | undefined;
  };
  readonly log: Logger;
}

const CLOSE_MS = 2000;
const LOST_LOGGED_APART_MS = 60_000;
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'PUT', 'OPTIONS']);

/**
 * Traces a service with OpenTelemetry and exports to a collector (OTLP over HTTP, JSON). Without an endpoint it loads nothing and
 * returns undefined. Spans contain names, statuses and codes from closed sets, the request id, and the
 * addresses of the databases; nothing else from a request.
 */
export async function openTracing({ service, config, log }: TracingOptions): Promise<Tracing | undefined> {
  const { otlpEndpoint } = config;
  if (otlpEndpoint === undefined) return undefined;
  // The SDK's file is beside this one, as source or built.
  const file = `./tracing-sdk${extname(import.meta.filename)}`;
  const { createSpanSource } = (await import(file)) as typeof import('./tracing-sdk.ts');
  return createTracing(
    createSpanSource({
      url: `${otlpEndpoint.replace(/\/$/, '')}/v1/traces`,
      resource: { 'service.name': `ori-${service}`, 'service.version': VERSION, 'host.name': hostname() },
      onLost: lossLogger(log),
    }),
    { redis: serverOf('redis', config.redisUrl), postgresql: serverOf('postgresql', config.databaseUrl) },
  );
}

/** The attributes of a database's server; without its address if the URL is that of a Sentinel or a Cluster. */
function serverOf(system: string, url: Secret | undefined): Attributes {
  const address = url && URL.parse(url.reveal());
  const isServer = address && !address.protocol.includes('+');
  return {
    'db.system.name': system,
    ...(isServer && { 'server.address': address.hostname }),
    ...(isServer && address.port !== '' && { 'server.port': Number(address.port) }),
  };
}

function createTracing(source: SpanSource, servers: Readonly<Record<string, Attributes>>): Tracing {
  const current = new AsyncLocalStorage<Span>();

  function traced<Values extends unknown[]>(
    name: string,
    attributes: Attributes,
    method: (...values: Values) => unknown,
  ): (...values: Values) => unknown {
    return (...values) => {
      const parent = current.getStore();
      if (parent === undefined) return method(...values);
      const span = source.startClient(name, parent, attributes);
      const answer = method(...values);
      if (answer instanceof Promise) {
        answer.then(
          () => source.end(span, { attributes: {}, isError: false }),
          (error) => source.end(span, { attributes: { 'error.type': codeOf(error) }, isError: true }),
        );
      }
      return answer;
    };
  }

  return {
    serve: (app) => (req, res) => {
      const span = source.startServer(parseTraceparent(req.headers['traceparent']));
      if (!span.isRecording()) return app(req, res);
      const exchange = findExchange(req);
      if (exchange !== undefined) exchange.facts['traceId'] = span.spanContext().traceId;
      res.once('close', () => endRequest(source, span, req, res));
      current.run(span, app, req, res);
    },
    part(dependency, part) {
      const members = Object.entries(part).map(([name, member]) => {
        if (typeof member !== 'function') return [name, member];
        const attributes = {
          'ori.dependency': dependency,
          'ori.operation': name,
          ...servers[dependency],
        };
        const method = (...values: unknown[]) => member.apply(part, values);
        return [name, traced(`${dependency} ${name}`, attributes, method)];
      });
      return Object.fromEntries(members);
    },
    fetch: traced('issuer fetch', { 'ori.dependency': 'issuer' }, fetch) as typeof fetch,
    async close() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, CLOSE_MS);
      source.close().then(resolve, resolve);
      await promise;
      clearTimeout(timer);
    },
  };
}

function endRequest(source: SpanSource, span: Span, req: IncomingMessage, res: ServerResponse): void {
  const exchange = findExchange(req);
  const { requestId, route, facts = {} } = exchange ?? {};
  const method = METHODS.has(req.method ?? '') ? (req.method as string) : '_OTHER';
  const status = res.headersSent ? res.statusCode : undefined;
  const isError = status === undefined || status >= 500;
  const reason = facts['reason'] ?? (isError ? String(status ?? 'client_gone') : undefined);
  span.updateName(route === undefined ? method : `${method} ${route}`);
  source.end(span, {
    attributes: {
      'http.request.method': method,
      ...(route !== undefined && { 'http.route': route }),
      ...(status !== undefined && { 'http.response.status_code': status }),
      ...(requestId !== undefined && { 'ori.request_id': requestId }),
      ...(reason !== undefined && { 'error.type': reason }),
    },
    isError,
  });
}

/** The code of an error, or its class; never its message, which may quote what was sent. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : error.name;
}

/** Logs that spans are lost, with their number, at most once a minute. */
function lossLogger(log: Logger): SpanSourceOptions['onLost'] {
  let lost = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (spans, err) => {
    lost += spans;
    if (performance.now() - loggedAt < LOST_LOGGED_APART_MS) return;
    log.warn({ spans: lost, err }, 'spans did not reach the OTLP collector');
    lost = 0;
    loggedAt = performance.now();
  };
}

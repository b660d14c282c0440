import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from '@ori/runtime/log';
import type { Secret } from '@ori/runtime/secret';
import { VERSION } from '@ori/runtime/version';
import type { Exchange } from '../../ground/exchange.ts';
import { parseTraceparent } from '../traceparent.ts';
import type { CreateTracing, TracingOptions } from '../tracing.ts';

/** Spans waiting for the collector; more are dropped, so that a slow collector cannot exhaust memory. */
const QUEUED_MAX = 2048;
const BATCH_MAX = 256;
const BATCH_DELAY_MS = 1000;
/** For one batch, retries included. */
const EXPORT_TIMEOUT_MS = 5000;
const CLOSE_MS = 2000;
const LOST_LOGGED_APART_MS = 60_000;
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'PUT', 'OPTIONS']);

/** The official SDK without its globals, so that nothing else in the process is traced. */
function openProvider(otlpEndpoint: string, { service, log }: TracingOptions): TracerProvider {
  const url = `${otlpEndpoint.replace(/\/$/, '')}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: EXPORT_TIMEOUT_MS });
  return new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.name': `ori-${service}`,
        'service.version': VERSION,
        'host.name': hostname(),
      }),
    ),
    // Not ParentBased: callers must not decide what is exported.
    sampler: new AlwaysOnSampler(),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reportingLoss(exporter, log),
        maxQueueSize: QUEUED_MAX,
        maxExportBatchSize: BATCH_MAX,
        scheduledDelayMillis: BATCH_DELAY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
}

/** Logs that spans are lost, with their number, at most once a minute. */
function reportingLoss(exporter: SpanExporter, log: Logger): SpanExporter {
  let lost = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        done(result);
        // ExportResultCode.SUCCESS is 0.
        if (result.code === 0) return;
        lost += spans.length;
        if (performance.now() - loggedAt < LOST_LOGGED_APART_MS) return;
        log.warn({ spans: lost, err: result.error }, 'spans did not reach the OTLP collector');
        lost = 0;
        loggedAt = performance.now();
      }),
    shutdown: () => exporter.shutdown(),
  };
}

/** See `openTracing`, which loads this module only if an OTLP endpoint is configured. */
export const createTracing: CreateTracing = (otlpEndpoint, options) => {
  const provider = openProvider(otlpEndpoint, options);
  const tracer = provider.getTracer('ori');
  const current = new AsyncLocalStorage<Span>();
  const { findExchange } = options;
  const { redisUrl, databaseUrl } = options.config;
  const servers: Readonly<Record<string, Attributes>> = {
    redis: serverOf('redis', redisUrl),
    postgresql: serverOf('postgresql', databaseUrl),
  };

  function traced<Values extends unknown[]>(
    name: string,
    attributes: Attributes,
    method: (...values: Values) => unknown,
  ): (...values: Values) => unknown {
    return (...values) => {
      const parent = current.getStore();
      if (parent === undefined) return method(...values);
      const below = trace.setSpan(ROOT_CONTEXT, parent);
      const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, below);
      const answer = method(...values);
      if (answer instanceof Promise) {
        answer.then(
          () => span.end(),
          (error) => endSpan(span, { 'error.type': codeOf(error) }, true),
        );
      }
      return answer;
    };
  }

  return {
    serve: (app) => (req, res) => {
      const span = tracer.startSpan('request', { kind: SpanKind.SERVER }, callersContext(req));
      if (!span.isRecording()) return app(req, res);
      const exchange = findExchange(req);
      if (exchange !== undefined) exchange.facts['traceId'] = span.spanContext().traceId;
      res.once('close', () => endRequest(span, exchange, req, res));
      current.run(span, app, req, res);
    },
    method(dependency, name, method) {
      const attributes = { 'ori.dependency': dependency, 'ori.operation': name, ...servers[dependency] };
      return traced(`${dependency} ${name}`, attributes, method);
    },
    fetch: traced('issuer fetch', { 'ori.dependency': 'issuer' }, fetch) as typeof fetch,
    async close() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, CLOSE_MS);
      provider.shutdown().then(resolve, resolve);
      await promise;
      clearTimeout(timer);
    },
  };
};

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

/** Below the span that `traceparent` names. Not `tracestate`: it is text chosen by the caller. */
function callersContext(req: IncomingMessage): Context {
  const parent = parseTraceparent(req.headers['traceparent']);
  if (parent === undefined) return ROOT_CONTEXT;
  const { traceId, parentId: spanId, flags } = parent;
  const traceFlags = Number.parseInt(flags, 16);
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function endSpan(span: Span, attributes: Attributes, isError: boolean): void {
  span.setAttributes(attributes);
  if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

function endRequest(
  span: Span,
  exchange: Exchange | undefined,
  req: IncomingMessage,
  res: ServerResponse,
): void {
  const { requestId, route, facts = {} } = exchange ?? {};
  const method = METHODS.has(req.method ?? '') ? (req.method as string) : '_OTHER';
  const status = res.headersSent ? res.statusCode : undefined;
  const isError = status === undefined || status >= 500;
  const reason = facts['reason'] ?? (isError ? String(status ?? 'client_gone') : undefined);
  span.updateName(route === undefined ? method : `${method} ${route}`);
  const attributes = {
    'http.request.method': method,
    ...(route !== undefined && { 'http.route': route }),
    ...(status !== undefined && { 'http.response.status_code': status }),
    ...(requestId !== undefined && { 'ori.request_id': requestId }),
    ...(reason !== undefined && { 'error.type': reason }),
  };
  endSpan(span, attributes, isError);
}

/** The code of an error, or its class; never its message, which may quote what was sent. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : error.name;
}

import type { RequestListener } from 'node:http';
import { extname } from 'node:path';
import type { Logger } from '@ori/runtime/log';
import type { Secret } from '@ori/runtime/secret';
import { findExchange } from '../ground/exchange.ts';

/** Spans for the requests of a service and for the calls that they make to its dependencies. */
export interface Tracing {
  /** Makes a span for each request, below the one that `traceparent` names. */
  serve(app: RequestListener): RequestListener;
  /** Makes a span, below the request's, for each call of an asynchronous method of a dependency during a request. */
  method<Values extends unknown[]>(
    dependency: string,
    name: string,
    method: (...values: Values) => unknown,
  ): (...values: Values) => unknown;
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

/** What tracing/sdk.ts has. Built, it is a bundle of its own, whose copy of exchange.ts would find nothing. */
export type CreateTracing = (
  otlpEndpoint: string,
  options: TracingOptions & { readonly findExchange: typeof findExchange },
) => Tracing;

/**
 * Traces a service with OpenTelemetry and exports to a collector (OTLP over HTTP, JSON). Without an endpoint it loads nothing and
 * returns undefined. Spans contain names, statuses and codes from closed sets, the request id, and the
 * addresses of the databases; nothing else from a request.
 */
export async function openTracing(options: TracingOptions): Promise<Tracing | undefined> {
  const { otlpEndpoint } = options.config;
  if (otlpEndpoint === undefined) return undefined;
  // The wing is below this file, as source or built.
  const file = `./tracing/sdk${extname(import.meta.filename)}`;
  const { createTracing } = (await import(file)) as { createTracing: CreateTracing };
  return createTracing(otlpEndpoint, { ...options, findExchange });
}

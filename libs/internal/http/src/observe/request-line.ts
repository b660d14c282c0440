import type { IncomingMessage, ServerResponse } from 'node:http';
import { BusyError } from '@ori/runtime/busy-error';
import type { Logger } from '@ori/runtime/log';
import type { Metrics } from '@ori/runtime/metrics';
import type { Exchange } from '../ground/exchange.ts';
import { explainFailure } from './explain-failure.ts';
import { parseTraceparent } from './traceparent.ts';

/** Where the requests of a service are recorded. */
export interface Sinks {
  readonly log?: Logger;
  readonly metrics?: Metrics;
}

/**
 * Records a finished request as one log line and in the metrics. The line contains the template of the route, never the
 * path, and no header or body except the trace id of `traceparent`; `client` is an IP address, and `why` explains the cause
 * of a 5xx if it is known.
 *
 * @param ended `endedAt` is `performance.now()` at the end of the answer
 */
export function observe(
  req: IncomingMessage,
  res: ServerResponse,
  ended: { readonly exchange: Exchange; readonly endedAt: number; readonly sinks: Sinks },
): void {
  const { exchange, endedAt, sinks } = ended;
  const durationMs = endedAt - exchange.receivedAt;
  const { requestId, client, route, error, facts } = exchange;
  const method = req.method ?? '';
  const status = res.headersSent ? res.statusCode : undefined;
  sinks.metrics?.requestEnded({ route, method, status, seconds: durationMs / 1000 });
  if (error instanceof BusyError) sinks.metrics?.budgetExhausted(error.budget);
  const line = {
    ...facts,
    requestId,
    traceId: parseTraceparent(req.headers['traceparent'])?.traceId ?? facts['traceId'],
    client: client.address,
    method,
    route: route ?? null,
    status: status ?? null,
    durationMs: Math.round(durationMs * 10) / 10,
    aborted: res.writableFinished ? undefined : true,
  };
  const level = status !== undefined && status >= 500 ? 'error' : 'info';
  const why = level === 'error' ? explainFailure(error) : undefined;
  if (error === undefined) sinks.log?.plain(level, line, 'request');
  else sinks.log?.[level]({ ...line, why, err: error }, 'request');
}

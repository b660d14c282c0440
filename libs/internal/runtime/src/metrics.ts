import { Histogram, Registry } from 'prom-client';
import { BUDGETS, type Budget } from './busy-error.ts';
import { collectCertificateEnds } from './certificate-ends.ts';
import { instrumentsOf } from './instruments.ts';
import { collectProcessMetrics } from './process-metrics.ts';
import { VERSION } from './version.ts';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export type { Budget };

export interface HttpObservation {
  /** The template of the route; any route that was not registered at the start counts as `other`. */
  route: string | undefined;
  method: string;
  /** The status sent; absent if the client disconnected before the answer. */
  status: number | undefined;
  seconds: number;
}

export interface MetricsOptions {
  service: string;
  /** All route templates: with the methods and status classes, they determine all label values. */
  routes?: readonly string[];
}

/**
 * The metrics of a service: its requests, its process, and those that the service registers itself. No label value
 * comes from a request, so the number of series is fixed at the start.
 */
export function createMetrics({ service, routes = [] }: MetricsOptions) {
  const registry = new Registry();
  const { counter, gauge } = instrumentsOf(registry);
  const known = new Set(routes);
  const duration = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its response.',
    labelNames: ['route', 'method', 'status_class'],
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  const inFlight = gauge('http_server_requests_in_flight', 'Requests in progress.');
  const refused = counter(
    'http_server_connections_refused_total',
    'Connections closed before a complete request arrived.',
    'status',
  );
  // A series that begins with its first event has no increase.
  for (const status of [400, 404, 408, 431]) refused.inc({ status }, 0);
  const exhausted = counter(
    'http_server_budget_exhausted_total',
    'Requests refused, and connections and responses cut off, because a budget was exhausted.',
    'budget',
  );
  for (const budget of BUDGETS) exhausted.inc({ budget }, 0);
  gauge('ori_service_info', 'The service and its version; always 1.', 'service', 'version').set(
    { service, version: VERSION },
    1,
  );
  const processMetrics = collectProcessMetrics(registry);
  return {
    registry,
    requestStarted: () => inFlight.inc(),
    requestEnded({ route, method, status, seconds }: HttpObservation): void {
      inFlight.dec();
      const labels = {
        route: route !== undefined && known.has(route) ? route : 'other',
        method: METHODS.has(method) ? method : 'other',
        status_class: statusClass(status),
      };
      duration.observe(labels, seconds);
    },
    /** Counts an answer to bytes that are not a valid request, by status. */
    connectionRefused: (status: number) => refused.inc({ status }),
    /** Counts a request, connection or answer that was dropped because of a limit. */
    budgetExhausted: (budget: Budget) => exhausted.inc({ budget }),
    noteCertificates: collectCertificateEnds(registry),
    /** Stops measuring; the registry keeps its last values. */
    close: () => processMetrics.close(),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;

function statusClass(status: number | undefined): string {
  if (status === undefined) return 'aborted';
  return status >= 100 && status < 600 ? `${Math.floor(status / 100)}xx` : 'other';
}

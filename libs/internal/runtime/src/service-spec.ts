import type { Environment } from './config.ts';
import { choice, flag, integer, list, path, text, url } from './config.ts';
import { LOG_LEVELS } from './log.ts';

/** The addresses of a service; the ops port is a thousand above. @param what it serves */
export const addressSpec = (port: number, what = 'API') => ({
  host: text({ default: '127.0.0.1', doc: `Address the ${what} listens on` }),
  port: integer({ min: 0, max: 65_535, default: port, doc: `Port of the ${what}; 0 lets the system choose` }),
  opsHost: text({ default: '127.0.0.1', doc: 'Address of the ops port' }),
  opsPort: integer({
    min: 0,
    max: 65_535,
    default: port + 1000,
    doc: 'Port of `/livez`, `/readyz` and `/metrics`',
  }),
});

interface Ports {
  readonly port: number;
  readonly opsPort: number;
}

/**
 * The ports of a service that people reach without a gateway: where its variables name none, that of a base URL such as
 * `http://127.0.0.1:8091/v1`, and a thousand above.
 */
export function portsAt(
  prefix: string,
  config: Ports & { readonly trustGateway: boolean },
  baseUrl: string,
  env: Environment,
): Ports {
  const [, digits] = /^http:\/\/(?:localhost|127\.0\.0\.1):(\d+)\//.exec(baseUrl) ?? [];
  if (digits === undefined || config.trustGateway) return config;
  const port = env[`${prefix}_PORT`] ? config.port : Number(digits);
  const above = Number(digits) + (Number(digits) > 64_535 ? -1000 : 1000);
  return { port, opsPort: env[`${prefix}_OPS_PORT`] ? config.opsPort : above };
}

/** The settings that all services share. */
export const SERVICE_SPEC = {
  regionalHosts: list({
    default: [],
    doc: 'Host names on which intern operations are refused',
    item: 'host name in lower case',
    pattern: /^[a-z0-9.-]+$/,
  }),
  databasePoolMax: integer({
    min: 1,
    max: 200,
    default: 10,
    doc: 'Connections to PostgreSQL',
    unit: 'connections',
  }),
  tlsCertFile: path({
    optional: true,
    doc: 'The certificate chain that the API is served with over TLS, PEM; without it, plain HTTP. A renewed one is used within 10 s',
  }),
  tlsKeyFile: path({ optional: true, doc: 'Its private key, PEM' }),
  tlsClientCaFile: path({
    optional: true,
    doc: 'Authorities, PEM: only clients with a certificate that one of them signed may connect',
  }),
  shutdownDrainMs: integer({
    min: 0,
    max: 60_000,
    default: 0,
    doc: 'How long `/readyz` is 503 after SIGTERM before connections are refused: long enough for load balancers to notice',
    unit: 'ms',
  }),
  trustGateway: flag({
    default: false,
    doc: 'Whether `X-Request-Id` and `X-Forwarded-…` are trusted; signer and management then listen only once they can serve: only behind a gateway that sets these headers',
  }),
  requireHardened: flag({
    default: false,
    doc: 'Refuses to start without the flags of the hardened start',
  }),
  otlpEndpoint: url({
    optional: true,
    doc: 'Base address of an OpenTelemetry collector that receives the traces (OTLP over HTTP; `/v1/traces` is appended); without it no tracing code is loaded',
  }),
  logLevel: choice(LOG_LEVELS, { default: 'info', doc: 'Lowest level to log' }),
} as const;

import { join } from 'node:path';
import { GUARDRAIL_BYTES_PER_ACCOUNT_MAX, type ManagementConfig } from '@ori/management/config';
import { LIMITS } from '@ori/runtime/limits';
import { Secret } from '@ori/runtime/secret';
import type { SignerConfig } from '@ori/signer';
import type { StandaloneConfig } from './config.ts';
import { CLIENT_ID, OPAQUE_CLIENT_ID, SIGNER_CLIENT_ID } from './openid/configuration.ts';

/** The parts of the services' configuration that are determined while the standalone starts. */
export interface ServicePlace {
  readonly baseUrl: string;
  readonly issuer: string;
  readonly signerClientSecret: string;
  readonly folder: string;
}

/** The settings of both services: production defaults, and addresses of this computer. */
function commonConfig({ host, limits }: StandaloneConfig, place: ServicePlace) {
  return {
    host,
    // Behind the front door, so any port works.
    port: 0,
    opsHost: host,
    opsPort: 0,
    issuer: place.issuer,
    audience: place.baseUrl,
    baseUrl: place.baseUrl,
    // The ring is injected from memory; this path is never read.
    kekFile: '/dev/null',
    kekShared: false,
    kmsUrl: undefined,
    kmsTokenFile: undefined,
    regionalHosts: limits.regionalHosts,
    clients: [CLIENT_ID, OPAQUE_CLIENT_ID],
    tokenLifetimeMaxSeconds: 86_400,
    requireAuthTime: true,
    introspectionClientId: SIGNER_CLIENT_ID,
    introspectionClientSecret: new Secret(place.signerClientSecret),
    introspectionAuthMethod: 'client_secret_basic',
    introspectionsInFlightMax: 64,
    // A computer that is busy starting may exceed the time limit for the provider once.
    issuerCoolDownSeconds: 1,
    issuerAllowPlainHttp: false,
    requireDpop: false,
    dpopRequireNonce: true,
    databasePoolMax: 10,
    ...{ tlsCertFile: undefined, tlsKeyFile: undefined, tlsClientCaFile: undefined },
    deadlineMs: DEADLINE_MS,
    ...LIMITS,
    shutdownDrainMs: 0,
    shutdownIdleMs: 0,
    shutdownGraceMs: 1000,
    trustGateway: false,
    logLevel: 'info',
    otlpEndpoint: undefined,
    otlpSampledPercent: 100,
    requireHardened: false,
  } as const;
}

export const DEADLINE_MS = 5000;

export function signerConfig(config: StandaloneConfig, place: ServicePlace): SignerConfig {
  const { redisUrl, limits } = config;
  return {
    ...commonConfig(config, place),
    ...limits,
    ...(redisUrl !== undefined && { redisUrl }),
    auditFile: join(place.folder, 'audit.log'),
    auditSync: 'kernel',
    ...{ redisTlsCertFile: undefined, redisTlsKeyFile: undefined, redisTlsCaFile: undefined },
    proofMaxAgeSeconds: 60,
    signingAtOnceMax: 32,
  };
}

export function managementConfig(config: StandaloneConfig, place: ServicePlace): ManagementConfig {
  return {
    ...commonConfig(config, place),
    guardrailBytesPerAccountMax: GUARDRAIL_BYTES_PER_ACCOUNT_MAX,
  };
}

import { join } from 'node:path';
import { Secret } from '@ori/service-kit/secret';
import type { SignerConfig } from '@ori/signer';
import type { StandaloneConfig } from './config.ts';
import { SIGNER_CLIENT_ID } from './openid/configuration.ts';

/** What of the signer's configuration is found out while the standalone starts. */
export interface SignerPlace {
  readonly port: number;
  readonly baseUrl: string;
  readonly issuer: string;
  readonly signerClientSecret: string;
  readonly folder: string;
}

/** The configuration of the standalone's signer: production's defaults, this computer's addresses. */
export function signerConfig(config: StandaloneConfig, place: SignerPlace): SignerConfig {
  const { host, redisUrl, limits } = config;
  const { port, baseUrl, issuer, signerClientSecret, folder } = place;
  return {
    host,
    port,
    opsHost: host,
    opsPort: 0,
    ...(redisUrl !== undefined && { redisUrl }),
    issuer,
    audience: baseUrl,
    baseUrl,
    // The ring is in memory and handed over; this path is never read.
    kekFile: '/dev/null',
    auditFile: join(folder, 'audit.log'),
    auditSync: 'kernel',
    ...limits,
    proofMaxAgeSeconds: 60,
    introspectionClientId: SIGNER_CLIENT_ID,
    introspectionClientSecret: new Secret(signerClientSecret),
    introspectionAuthMethod: 'client_secret_basic',
    introspectionsInFlightMax: 64,
    // A computer that is busy starting may miss the signer's time limit for the provider once.
    issuerCoolDownSeconds: 1,
    issuerAllowPlainHttp: false,
    databasePoolMax: 10,
    deadlineMs: 5000,
    shutdownGraceMs: 1000,
    trustGateway: false,
    logLevel: 'info',
  };
}

import { join } from 'node:path';
import { completeIdentity } from '@ori/identity/config';
import { MANAGEMENT_SPEC, type ManagementConfig } from '@ori/management';
import { type Environment, loadConfig } from '@ori/runtime/config';
import { SIGNER_SPEC, type SignerConfig } from '@ori/signer/config';
import type { StandaloneConfig } from './config.ts';
import { CLIENT_ID, OPAQUE_CLIENT_ID, SIGNER_CLIENT_ID } from './openid/configuration.ts';

/** The parts of the services' configuration that are determined while the standalone starts. */
export interface ServicePlace {
  readonly baseUrl: string;
  readonly issuer: string;
  readonly signerClientSecret: string;
  readonly folder: string;
}

/** Nobody waits for a demonstration to stop. */
const STOP = { shutdownIdleMs: 0, shutdownGraceMs: 1000 };

// Stores are injected.
const { databaseUrl, redisUrl, ...SIGNER } = SIGNER_SPEC;
const { databaseUrl: _, ...MANAGEMENT } = MANAGEMENT_SPEC;

/** The environment of a service: addresses of this computer. Everything else is the default of production. */
function environmentOf(prefix: string, { host }: StandaloneConfig, place: ServicePlace): Environment {
  const values = {
    HOST: host,
    // Behind the front door, so any port works.
    PORT: '0',
    OPS_HOST: host,
    OPS_PORT: '0',
    ISSUER: place.issuer,
    AUDIENCE: place.baseUrl,
    CLIENTS: `${CLIENT_ID},${OPAQUE_CLIENT_ID}`,
    INTROSPECTION_CLIENT_ID: SIGNER_CLIENT_ID,
    INTROSPECTION_CLIENT_SECRET: place.signerClientSecret,
    // The ring is injected from memory; this path is never read.
    KEK_FILE: '/dev/null',
  };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}_${name}`, value]));
}

export function signerConfig(config: StandaloneConfig, place: ServicePlace): SignerConfig {
  const { redisUrl, limits } = config;
  const environment = environmentOf('SIGNER', config, place);
  const loaded = loadConfig('SIGNER', SIGNER, {
    ...environment,
    SIGNER_AUDIT_FILE: join(place.folder, 'audit.log'),
  });
  return {
    ...loaded,
    ...STOP,
    ...limits,
    ...(redisUrl !== undefined && { redisUrl }),
    ...completeIdentity('SIGNER', loaded, []),
  };
}

export function managementConfig(config: StandaloneConfig, place: ServicePlace): ManagementConfig {
  const loaded = loadConfig('MANAGEMENT', MANAGEMENT, environmentOf('MANAGEMENT', config, place));
  return {
    ...loaded,
    ...STOP,
    regionalHosts: config.limits.regionalHosts,
    ...completeIdentity('MANAGEMENT', loaded, []),
  };
}

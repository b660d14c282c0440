import type { ServingConstants } from '@ori/http/open-ports';
import { problemsOfTls } from '@ori/http/tls';
import { completeIdentity, IDENTITY_SPEC, type IdentityConfig } from '@ori/identity/config';
import { problemsOfAddress } from '@ori/postgres/address';
import { type Config, ConfigError, type Environment, loadConfig, secret } from '@ori/runtime/config';
import { addressSpec, portsAt, SERVICE_SPEC } from '@ori/runtime/service-spec';
import { ringSpec } from '@ori/sealing/ring-spec';

export const MANAGEMENT_SPEC = {
  ...addressSpec(8082),
  databaseUrl: secret({
    doc: 'PostgreSQL address of a role that is a member of `ori_management` and nothing more',
  }),
  ...IDENTITY_SPEC,
  ...ringSpec('The ring of key-encryption keys that seals the provider keys: a JWK Set'),
  ...SERVICE_SPEC,
} as const;

type Loaded = Config<typeof MANAGEMENT_SPEC>;

/** The configuration of the service. Without a database address, a database must be injected. */
export type ManagementConfig = Omit<Loaded, 'baseUrl' | 'databaseUrl'> &
  Partial<Pick<Loaded, 'databaseUrl'>> &
  Pick<IdentityConfig, 'baseUrl' | 'issuers'> &
  Omit<ServingConstants, keyof Loaded>;

/**
 * Reads and validates the whole configuration.
 *
 * @throws ConfigError with every problem
 */
export function loadManagementConfig(env: Environment): ManagementConfig {
  const config = loadConfig('MANAGEMENT', MANAGEMENT_SPEC, env);
  const problems = problemsOfTls('MANAGEMENT', config);
  const identity = completeIdentity('MANAGEMENT', config, problems);
  problems.push(...problemsOfAddress('MANAGEMENT_DATABASE_URL', config.databaseUrl.reveal()));
  if (problems.length > 0) throw new ConfigError(problems);
  const ports = portsAt('MANAGEMENT', config, identity.baseUrl, env);
  return { ...config, ...identity, port: ports.port, opsPort: ports.opsPort };
}

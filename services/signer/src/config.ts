import type { ServingConstants } from '@ori/http/open-ports';
import { problemsOfTls } from '@ori/http/tls';
import { completeIdentity, IDENTITY_SPEC, type IdentityConfig } from '@ori/identity/config';
import { problemsOfAddress } from '@ori/postgres/address';
import { parseRedisUrl, REDIS_URL_FORMS } from '@ori/redis/url';
import {
  type Config,
  ConfigError,
  choice,
  type Environment,
  integer,
  loadConfig,
  path,
  secret,
} from '@ori/runtime/config';
import { LIMITS_SPEC } from '@ori/runtime/limits';
import { addressSpec, portsAt, SERVICE_SPEC } from '@ori/runtime/service-spec';
import { problemsOfTlsFiles, type TlsFiles } from '@ori/runtime/tls-files';
import { ringSpec } from '@ori/sealing/ring-spec';

/** The environment of the signer: `SIGNER_…`. */
export const SIGNER_SPEC = {
  ...addressSpec(8081),
  databaseUrl: secret({
    doc: 'PostgreSQL address of a role that is a member of `ori_signer` and nothing more',
  }),
  redisUrl: secret({ doc: 'Redis address: see below' }),
  redisTlsCertFile: path({ optional: true, doc: 'The client certificate of the signer for Redis, PEM' }),
  redisTlsKeyFile: path({ optional: true, doc: 'Its private key, PEM' }),
  redisTlsCaFile: path({
    optional: true,
    doc: "Authorities, PEM, that sign Redis's certificate; default: those of the system",
  }),
  ...IDENTITY_SPEC,
  ...ringSpec('The ring of key-encryption keys that opens the signing seeds: a JWK Set'),
  freshnessKeyFile: path({
    optional: true,
    doc: 'The private key of the role `freshness`, which states to daemons that pin a root that a key set is current',
  }),
  delegationsFile: path({
    optional: true,
    doc: 'The delegations of the root, one line each, as `ori-admin root delegate` prints them',
  }),
  auditFile: path({
    doc: 'Its own file, to which audit lines are appended; created with mode 0640 less the umask',
  }),
  auditSync: choice(['kernel', 'disk'], {
    default: 'kernel',
    doc: 'When a line counts as written: handed to the kernel, or on the disk (`O_DSYNC`)',
  }),
  turnsPerUser: integer({
    min: 1,
    max: 1_000_000,
    default: 60,
    doc: 'Turns of one user in a window',
    unit: 'turns',
  }),
  turnsPerOrganization: integer({
    min: 1,
    max: 10_000_000,
    default: 600,
    doc: 'Turns of one organization in a window',
    unit: 'turns',
  }),
  turnWindowSeconds: integer({
    min: 1,
    max: 86_400,
    default: 60,
    doc: 'The window of the turn limiter',
    unit: 's',
  }),
  proofMaxAgeSeconds: integer({
    min: 1,
    max: 600,
    default: 60,
    doc: 'The longest age of a proof that any daemon accepts; its nonce stays reserved a little longer',
    unit: 's',
  }),
  ...LIMITS_SPEC,
  ...SERVICE_SPEC,
} as const;

type Loaded = Config<typeof SIGNER_SPEC>;

/** The signer's validated configuration. Without an address of a database or of Redis, a part must replace it. */
export type SignerConfig = Omit<Loaded, 'baseUrl' | 'databaseUrl' | 'redisUrl'> &
  Partial<Pick<Loaded, 'databaseUrl' | 'redisUrl'>> &
  Pick<IdentityConfig, 'baseUrl' | 'issuers'> &
  Omit<ServingConstants, keyof Loaded>;

type RedisTls = Pick<Loaded, 'redisTlsCertFile' | 'redisTlsKeyFile' | 'redisTlsCaFile'>;

export const redisTlsFiles = (config: RedisTls): TlsFiles => ({
  cert: config.redisTlsCertFile,
  key: config.redisTlsKeyFile,
  ca: config.redisTlsCaFile,
});

/**
 * Reads and validates the whole configuration.
 *
 * @throws ConfigError with every problem
 */
export function loadSignerConfig(env: Environment): SignerConfig {
  const config = loadConfig('SIGNER', SIGNER_SPEC, env);
  const problems = problemsOfTls('SIGNER', config);
  const identity = completeIdentity('SIGNER', config, problems);
  problems.push(...problemsOfAddress('SIGNER_DATABASE_URL', config.databaseUrl.reveal()));
  const redis = parseRedisUrl(config.redisUrl.reveal());
  if (redis === undefined) problems.push(`SIGNER_REDIS_URL: expected one of ${REDIS_URL_FORMS}`);
  const files = redisTlsFiles(config);
  if (redis?.tls === false && (files.cert ?? files.ca) !== undefined) {
    problems.push('SIGNER_REDIS_TLS_…_FILE: SIGNER_REDIS_URL has no TLS; it must begin with rediss');
  }
  problems.push(...problemsOfTlsFiles('SIGNER_REDIS_TLS', files));
  if ((config.freshnessKeyFile === undefined) !== (config.delegationsFile === undefined))
    problems.push('SIGNER_FRESHNESS_KEY_FILE and SIGNER_DELEGATIONS_FILE: set both or neither');
  if (problems.length > 0) throw new ConfigError(problems);
  const ports = portsAt('SIGNER', config, identity.baseUrl, env);
  return { ...config, ...identity, port: ports.port, opsPort: ports.opsPort };
}

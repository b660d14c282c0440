import { completeIdentity, IDENTITY_SPEC, type IdentityConfig } from '@ori/identity/config';
import {
  type Config,
  ConfigError,
  type Environment,
  loadConfig,
  path,
  type Spec,
  secret,
  variableName,
} from '@ori/runtime/config';
import { ringSpec } from '@ori/sealing/ring-spec';

export type Prefix = 'SIGNER' | 'MANAGEMENT';

export const DATABASE = { databaseUrl: secret({ doc: '' }) };
export const REDIS = {
  redisUrl: secret({ doc: '' }),
  redisTlsCertFile: path({ optional: true, doc: '' }),
  redisTlsKeyFile: path({ optional: true, doc: '' }),
  redisTlsCaFile: path({ optional: true, doc: '' }),
};
export const RING = ringSpec('');
export const AUDIT = { auditFile: path({ doc: '' }) };

/** These settings of a service, as it reads them itself; its other ones are not judged. @throws ConfigError */
export function loadPart<S extends Spec>(prefix: Prefix, spec: S, env: Environment): Config<S> {
  const names = Object.keys(spec).flatMap((key) => {
    const name = variableName(prefix, key);
    return [name, `${name}_FILE`];
  });
  return loadConfig(
    prefix,
    spec,
    Object.fromEntries(
      names
        .map((name) => [name, env[name]])
        .filter(([name, value]) => value !== undefined && !name?.endsWith('_FILE_FILE')),
    ),
  );
}

/** @throws ConfigError */
export function loadIdentity(prefix: Prefix, env: Environment): IdentityConfig {
  const config = loadPart(prefix, IDENTITY_SPEC, env);
  const problems: string[] = [];
  const identity = completeIdentity(prefix, config, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return { ...config, ...identity };
}

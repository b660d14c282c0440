import {
  type Config,
  ConfigError,
  type Environment,
  integer,
  loadConfig,
  secret,
  text,
} from '@ori/runtime/config';
import { SIGNER_SPEC } from '@ori/signer/config';

const LOOPBACK_HOSTS = ['127.0.0.1', '::1', 'localhost'];

/** The standalone's own names, `ORI_…`. */
export const STANDALONE_SPEC = {
  host: text({
    default: '127.0.0.1',
    doc: 'Address of the API',
    expected: `a loopback address (${LOOPBACK_HOSTS.join(', ')}), since the demo sign-in asks for no password`,
    accepts: (value) => LOOPBACK_HOSTS.includes(value),
  }),
  port: integer({
    default: 8080,
    min: 0,
    max: 65_535,
    doc: 'Port of the API; sign-in and daemon get the next two. 0: any free one',
  }),
  redisUrl: secret({
    optional: true,
    doc: 'Redis for turn limits and nonces, shared with the sample daemon; without it they are in memory',
  }),
  databaseUrl: secret({
    optional: true,
    doc: 'An empty PostgreSQL database, or one of an earlier standalone, which gets new demo data beside the old; any other is refused, unchanged; without it one is embedded, in memory',
  }),
} as const;

const { turnsPerUser, turnsPerOrganization, turnWindowSeconds, regionalHosts } = SIGNER_SPEC;

/** The settings that the standalone reads from the signer's environment, `SIGNER_…`. */
export const LIMITS_SPEC = { turnsPerUser, turnsPerOrganization, turnWindowSeconds, regionalHosts } as const;

/** Names that belong to the CLI, which may be set in the same shell. */
const CLI_NAMES = new Set(
  'ORI_BASE_URL ORI_CLIENT_ID ORI_DAEMON_URL ORI_TOKEN ORI_DPOP_KEY ORI_PROFILE ORI_SESSION_STORE'.split(' '),
);

export type StandaloneConfig = Config<typeof STANDALONE_SPEC> & {
  readonly limits: Config<typeof LIMITS_SPEC>;
};

/** @throws ConfigError with all problems */
export function loadStandaloneConfig(env: Environment): StandaloneConfig {
  const problems: string[] = [];
  const gather = <T>(load: () => T): T | undefined => {
    try {
      return load();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
      return undefined;
    }
  };
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !CLI_NAMES.has(name)));
  const config = gather(() => loadConfig('ORI', STANDALONE_SPEC, own));
  const limits = gather(() => loadConfig('SIGNER', LIMITS_SPEC, env));
  if (config === undefined || limits === undefined || problems.length > 0) throw new ConfigError(problems);
  return { ...config, limits };
}

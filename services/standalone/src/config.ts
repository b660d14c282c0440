import { type Config, type Environment, integer, loadConfig, text } from '@ori/runtime/config';

const LOOPBACK_HOSTS = ['127.0.0.1', '::1', 'localhost'];

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
} as const;

/** Names that belong to the CLI, which may be set in the same shell. */
const CLI_NAMES = new Set(
  'ORI_BASE_URL ORI_CLIENT_ID ORI_DAEMON_URL ORI_TOKEN ORI_DPOP_KEY ORI_PROFILE ORI_SESSION_STORE'.split(' '),
);

export type StandaloneConfig = Config<typeof STANDALONE_SPEC>;

/** @throws ConfigError with all complaints */
export function loadStandaloneConfig(env: Environment): StandaloneConfig {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !CLI_NAMES.has(name)));
  return loadConfig('ORI', STANDALONE_SPEC, own);
}

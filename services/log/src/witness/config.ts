import type { ServingConstants } from '@ori/http/open-ports';
import { problemsOfTls } from '@ori/http/tls';
import {
  type Config,
  ConfigError,
  type Environment,
  loadConfig,
  path,
  secret,
  text,
} from '@ori/runtime/config';
import { addressSpec, SERVICE_SPEC } from '@ori/runtime/service-spec';
import { isSeed } from '@ori/tlog/log-keys';
import type { Policy } from '@ori/tlog/policy';
import { readPolicy } from '../config.ts';

const { regionalHosts, databasePoolMax, otlpEndpoint, shutdownDrainMs, trustGateway, ...COMMON_SPEC } =
  SERVICE_SPEC;

/** The environment of the witness: `WITNESS_…`. */
export const WITNESS_SPEC = {
  ...addressSpec(8085, 'witness'),
  name: text({
    doc: 'The key name of the witness, such as `witness.example/w1`',
    expected: 'a name without spaces and plus signs',
    accepts: (value) => /^[^\s+]+$/.test(value),
  }),
  key: secret({
    doc: 'The seed of the key that it cosigns with: 32 bytes in base64',
    expected: '32 bytes in base64',
    accepts: isSeed,
  }),
  policyFile: path({ doc: 'A tlog-policy file: its `log` lines are the logs that are witnessed' }),
  folder: path({
    doc: 'The folder of the checkpoints that were cosigned last, and of those that contradict one of them',
  }),
  ...COMMON_SPEC,
} as const;

export type WitnessConfig = Config<typeof WITNESS_SPEC> & ServingConstants & { readonly policy: Policy };

/** @throws ConfigError with every problem */
export function loadWitnessConfig(env: Environment): WitnessConfig {
  const config = loadConfig('WITNESS', WITNESS_SPEC, env);
  const problems = problemsOfTls('WITNESS', config);
  if (problems.length > 0) throw new ConfigError(problems);
  return { ...config, policy: readPolicy('WITNESS_POLICY_FILE', config.policyFile) as Policy };
}

import { complaintsOfTls } from '@ori/http/tls';
import {
  type Config,
  ConfigError,
  type Environment,
  integer,
  loadConfig,
  path,
  secret,
  text,
} from '@ori/runtime/config';
import { SERVICE_SPEC } from '@ori/runtime/service-spec';
import { isSeed } from '@ori/tlog/log-keys';
import type { Policy } from '@ori/tlog/policy';
import { readPolicy } from '../config.ts';

const { regionalHosts, databasePoolMax, otlpEndpoint, otlpSampledPercent, ...COMMON_SPEC } = SERVICE_SPEC;

/** The environment of the witness: `WITNESS_…`. */
export const WITNESS_SPEC = {
  host: text({ default: '127.0.0.1', doc: 'Address the witness is served on' }),
  port: integer({ min: 0, max: 65_535, default: 8085, doc: 'Port of the witness; 0 lets the system choose' }),
  opsHost: text({ default: '127.0.0.1', doc: 'Address of the ops port' }),
  opsPort: integer({ min: 0, max: 65_535, default: 9085, doc: 'Port of `/livez`, `/readyz` and `/metrics`' }),
  name: {
    ...text({ doc: 'The key name of the witness, such as `witness.example/w1`' }),
    expected: 'a name without spaces and plus signs',
    parse: (value: string) => (/^[^\s+]+$/.test(value) ? value : undefined),
  },
  key: secret({
    doc: 'The seed of the key that it cosigns with: 32 bytes in base64',
    expected: '32 bytes in base64',
    accepts: isSeed,
  }),
  policyFile: path({ doc: 'A tlog-policy file: its `log` lines are the logs that are witnessed' }),
  folder: path({ doc: 'The folder of the checkpoints that were cosigned last' }),
  ...COMMON_SPEC,
} as const;

export type WitnessConfig = Config<typeof WITNESS_SPEC> & { readonly policy: Policy };

/** @throws ConfigError with every complaint */
export function loadWitnessConfig(env: Environment): WitnessConfig {
  const config = loadConfig('WITNESS', WITNESS_SPEC, env);
  const complaints = complaintsOfTls('WITNESS', config);
  if (complaints.length > 0) throw new ConfigError(complaints);
  return { ...config, policy: readPolicy('WITNESS_POLICY_FILE', config.policyFile) as Policy };
}

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ServingConstants } from '@ori/http/open-ports';
import { problemsOfTls } from '@ori/http/tls';
import {
  type Config,
  ConfigError,
  type Environment,
  integer,
  list,
  loadConfig,
  path,
  secret,
  text,
} from '@ori/runtime/config';
import { addressSpec, SERVICE_SPEC } from '@ori/runtime/service-spec';
import { systemErrorCode } from '@ori/runtime/system-error-code';
import { TlogError } from '@ori/tlog/error';
import { isSeed } from '@ori/tlog/log-keys';
import { type Policy, parsePolicy } from '@ori/tlog/policy';

const { regionalHosts, databasePoolMax, ...COMMON_SPEC } = SERVICE_SPEC;

/** A name that may be a checkpoint's origin and the prefix of a URL. */
const ORIGIN = /^[a-z0-9.-]+(:\d+)?(\/[A-Za-z0-9._-]+)+$/;

/** The environment of the log: `LOG_…`. */
export const LOG_SPEC = {
  ...addressSpec(8084, 'log'),
  origin: text({
    doc: 'The name of the log: its address without scheme, which must have a path, such as `api.example/log`',
    expected: 'a host and a path, without scheme and without a slash at the end',
    accepts: (value) => ORIGIN.test(value),
  }),
  key: secret({
    doc: 'The seed of the keys that checkpoints are signed with: 32 bytes in base64',
    expected: '32 bytes in base64',
    accepts: isSeed,
  }),
  auditFiles: list({
    doc: 'The audit files of all signers, each the `SIGNER_AUDIT_FILE` of one; rotated files are searched next to it',
    item: 'path of a file',
    pattern: /^\//,
  }),
  folder: path({ doc: 'The folder of the journal and the tiles' }),
  guardFolder: path({
    doc: 'A folder outside the backups of `LOG_FOLDER`, ideally on another disk, that records how far the tree was signed',
  }),
  policyFile: path({
    optional: true,
    doc: 'A tlog-policy file: the witnesses with their addresses, and how many of them a checkpoint waits for',
  }),
  intervalMs: integer({
    min: 100,
    max: 60_000,
    default: 2000,
    doc: 'Shortest time between two checkpoints',
    unit: 'ms',
  }),
  ...COMMON_SPEC,
} as const;

export type LogConfig = Config<typeof LOG_SPEC> &
  Pick<ServingConstants, 'shutdownIdleMs'> & { readonly policy: Policy | undefined };

/**
 * Reads and validates the whole configuration, including the policy file.
 *
 * @throws ConfigError with every problem
 */
export function loadLogConfig(env: Environment): LogConfig {
  const config = loadConfig('LOG', LOG_SPEC, env);
  const problems = problemsOfTls('LOG', config);
  const [folder, guard] = [config.folder, config.guardFolder].map((path) => `${resolve(path)}/`);
  if (folder !== undefined && guard?.startsWith(folder))
    problems.push('LOG_GUARD_FOLDER: expected a folder outside LOG_FOLDER');
  for (const file of config.auditFiles) {
    const other = config.auditFiles.find((one) => one !== file && one.startsWith(file));
    if (other !== undefined)
      problems.push(`LOG_AUDIT_FILES: ${other} would be taken for a file that was rotated away from ${file}`);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { ...config, policy: readPolicy(config.policyFile) };
}

/** @throws ConfigError */
function readPolicy(file: string | undefined): Policy | undefined {
  if (file === undefined) return undefined;
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError([
      `LOG_POLICY_FILE: cannot read ${JSON.stringify(file)} (${systemErrorCode(error)})`,
    ]);
  }
  try {
    return parsePolicy(content);
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    throw new ConfigError([`LOG_POLICY_FILE: ${error.message}`]);
  }
}

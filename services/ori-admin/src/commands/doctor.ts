import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Environment } from '@ori/runtime/config';
import { type Command, examples } from '../command.ts';
import type { Context } from '../context.ts';
import { examine, type Finding } from '../doctor/finding.ts';
import { lookAtIssuers, lookAtToken } from '../doctor/issuers.ts';
import { lookAtLogin, lookAtServer, lookAtStatements } from '../doctor/postgresql.ts';
import { lookAtRedis } from '../doctor/redis.ts';
import { lookAtAuditFolder, lookAtInstance, lookAtRing } from '../doctor/services.ts';
import { loadIdentity, type Prefix } from '../doctor/settings.ts';
import { PartialFailure, UsageError } from '../failure.ts';
import { collected } from '../options.ts';
import { readSecret } from '../read-secret.ts';

interface DoctorOptions {
  settings?: string[];
  ops?: string[];
  token?: true;
}

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('look at everything that the services depend on; each line that is not ok says what to do')
    .option('--settings <file>', "a service's environment file, NAME=value lines; repeatable", collected)
    .option('--ops <url>', 'ops URL of a running signer, management service or log; repeatable', collected)
    .option('--token', 'an access token on stdin: which claim the signer would refuse it for')
    .addHelpText(
      'after',
      `
Reads SIGNER_… and MANAGEMENT_… as the services do, from the files of --settings and from the environment.
Changes nothing. Exits with 4 if a check fails.
${examples('ori-admin doctor --settings /etc/ori/signer.env --ops http://127.0.0.1:9081', 'ori-admin doctor --token < token.txt')}`,
    )
    .does(async (admin, options: DoctorOptions) => {
      const env = { ...readSettings(options.settings ?? []), ...admin.environment };
      const token = options.token ? await readSecret(admin, {}) : undefined;
      const findings = await lookAtAll(admin, env, token, options.ops ?? []);
      admin.report({ data: findings }, { lines: findings.flatMap(linesOf) });
      const failing = findings.filter(({ state }) => state === 'failing').length;
      if (failing === 0) return;
      const next = 'Each line that begins with FAIL says what to do.';
      throw new PartialFailure(`${failing} of ${findings.length} checks failed.`, next);
    });
}

async function lookAtAll(
  admin: Context,
  env: Environment,
  token: string | undefined,
  ops: readonly string[],
): Promise<Finding[]> {
  const ofService = (prefix: Prefix, check: string, look: () => Promise<string>, fix: string) =>
    isConfigured(prefix, env) ? [examine(check, look, fix)] : [];
  const fixDatabase = 'check the address, the login and pg_hba.conf';
  const fixRing = 'check the ring file and ORI_ADMIN_DATABASE_URL';
  const findings = await Promise.all([
    examine(
      'database',
      () => admin.withDatabase(lookAtServer),
      'check ORI_ADMIN_DATABASE_URL and the server',
    ),
    examine('statements of keys', () => admin.withDatabase(lookAtStatements), 'run ori-admin migrate'),
    ...(['SIGNER', 'MANAGEMENT'] as const).flatMap((prefix) =>
      isConfigured(prefix, env)
        ? [examine(`${prefix.toLowerCase()} login`, () => lookAtLogin(prefix, env), fixDatabase)]
        : [Promise.resolve(skipped(prefix))],
    ),
    examine('signer ring', () => lookAtRing(admin, 'signer', env), fixRing),
    examine('management ring', () => lookAtRing(admin, 'management', env), fixRing),
    ...ofService('SIGNER', 'redis', () => lookAtRedis(env), 'check SIGNER_REDIS_URL and the server'),
    ...ofService('SIGNER', 'audit folder', () => lookAtAuditFolder(env), 'check SIGNER_AUDIT_FILE'),
    ...ops.map((url) => examine(url, () => lookAtInstance(url), 'check that it runs, and the address')),
  ]);
  const signer = await lookAtIdentity('SIGNER', env, token);
  return [...findings, ...signer, ...(await lookAtIdentity('MANAGEMENT', env))];
}

async function lookAtIdentity(prefix: Prefix, env: Environment, token?: string): Promise<Finding[]> {
  if (!isConfigured(prefix, env)) return [];
  let issuers: Finding[] = [];
  const settings = await examine(
    `${prefix.toLowerCase()} issuer settings`,
    async () => {
      const config = loadIdentity(prefix, env);
      issuers = await lookAtIssuers(prefix, config);
      return `${config.issuers.length} issuers for ${config.baseUrl}`;
    },
    'correct the setting',
  );
  if (token === undefined || settings.state !== 'ok') return [settings, ...issuers];
  const fix = 'correct that setting, or have the issuer answer';
  const judged = await examine('token', () => lookAtToken(loadIdentity(prefix, env), token), fix);
  return [settings, ...issuers, judged];
}

const isConfigured = (prefix: Prefix, env: Environment): boolean =>
  Object.keys(env).some((name) => name.startsWith(`${prefix}_`));

const skipped = (prefix: Prefix): Finding => ({
  check: `${prefix.toLowerCase()} settings`,
  state: 'skipped',
  found: `no ${prefix}_… setting is given`,
  fix: 'name the environment file of the service with --settings',
});

const MARKS = { ok: 'ok  ', failing: 'FAIL', skipped: 'skip' };

function linesOf({ check, state, found, fix }: Finding): string[] {
  return [`${MARKS[state]}  ${check}: ${found}`, ...(fix === undefined ? [] : [`      do: ${fix}`])];
}

/** @throws UsageError */
function readSettings(files: readonly string[]): Environment {
  const read = (file: string) => {
    const text = readFileSync(file, 'utf8');
    const line = text.split('\n').findIndex((one) => /^[^#'"]+=[^'"]*#/.test(one)) + 1;
    if (line === 0) return Object.entries(parseEnv(text));
    throw new UsageError(
      `${file}, line ${line}: systemd takes the # for part of the value, and others for a comment.`,
      'Quote the value, or move the comment to a line of its own.',
    );
  };
  return Object.fromEntries(files.flatMap(read));
}

import { accessSync, constants, readFileSync } from 'node:fs';
import type { ServingConstants } from '@ori/http/open-ports';
import { problemsOfTls } from '@ori/http/tls';
import { problemsOfAddress } from '@ori/postgres/address';
import { isInternId, isPath } from '@ori/proof/wire';
import { parseRedisUrl, REDIS_URL_FORMS } from '@ori/redis/url';
import {
  type Config,
  ConfigError,
  choice,
  type Environment,
  flag,
  integer,
  list,
  loadConfig,
  path,
  secret,
  text,
  url,
} from '@ori/runtime/config';
import { LIMITS_SPEC } from '@ori/runtime/limits';
import { addressSpec, SERVICE_SPEC } from '@ori/runtime/service-spec';
import { systemErrorCode } from '@ori/runtime/system-error-code';
import { openKeys, type Root } from './keys.ts';

const { regionalHosts, databasePoolMax, otlpEndpoint, ...COMMON_SPEC } = SERVICE_SPEC;

const MIB = 1024 * 1024;

/** The environment of the guard: `GUARD_…`. */
export const GUARD_SPEC = {
  ...addressSpec(8086, 'guard'),
  ...COMMON_SPEC,
  mode: choice(['proxy', 'ext_authz', 'forward_auth'], {
    default: 'proxy',
    doc: 'Whether to forward requests, or to authorize them for another proxy: see Modes',
  }),
  internId: text({
    doc: 'The id of the daemon’s intern',
    expected: '1 to 128 characters of A-Z a-z 0-9 _ -',
    accepts: isInternId,
  }),
  keysUrl: url({ doc: 'The intern’s key set: `https://…/v1/interns/ID/daemon/jwks.json`' }),
  rootFile: path({
    optional: true,
    doc: 'The root that must vouch for the key set: a public JWK, or an array of them, as `ori-admin root generate` prints it',
  }),
  daemonUrl: url({
    default: 'http://127.0.0.1:8000',
    doc: 'The origin of the daemon, without a path; mode `proxy`',
  }),
  openPaths: list({
    default: [],
    doc: 'Paths that `GET` and `HEAD` reach without a proof, compared byte for byte; mode `proxy`',
    item: 'path without a query',
    pattern: /^\/[!-"$->@-~]*$/,
  }),
  contentType: text({
    default: 'application/json',
    doc: 'The only media type accepted',
    expected: 'a media type in lower case, without parameters and not multipart',
    accepts: (value) => /^(?!multipart\/)[a-z0-9.+-]+\/[a-z0-9.+-]+$/.test(value),
  }),
  maxAgeSeconds: integer({ min: 1, max: 600, default: 60, doc: 'Oldest proof accepted', unit: 's' }),
  replay: choice(['memory', 'redis', 'postgres'], {
    default: 'memory',
    doc: 'Where spent proofs are remembered; `memory` only if one process guards this intern',
  }),
  redisUrl: secret({
    optional: true,
    doc: 'The Redis of `GUARD_REPLAY=redis`',
    expected: REDIS_URL_FORMS,
    accepts: (value) => parseRedisUrl(value) !== undefined,
  }),
  databaseUrl: secret({
    optional: true,
    doc: 'The PostgreSQL of `GUARD_REPLAY=postgres`, with the schema of the verifier installed',
  }),
  replayReplicas: integer({
    min: 0,
    max: 100,
    default: 0,
    doc: 'How many replicas or standbys of that server could be promoted',
  }),
  answers: flag({
    default: false,
    doc: 'Keep the answer of each call for ten minutes, so that its caller can ask for it; mode `proxy`',
  }),
  answersKey: secret({
    optional: true,
    doc: 'Seals answers in Redis or PostgreSQL, the same for every guard of the daemon: 32 bytes in base64',
    expected: '32 bytes in base64',
    accepts: (value) => /^[A-Za-z0-9+/]{43}=$/.test(value),
  }),
  answerKey: secret({
    optional: true,
    doc: 'Proves each answer, the same for every guard of the daemon: the seed that `ori-admin answer-key make` writes',
    expected: '32 bytes in base64url, on one line',
    accepts: (value) => /^[\w-]{42}[AEIMQUYcgkosw048]$/.test(value),
  }),
  bodyBytesMax: integer({
    min: 0,
    max: 1024 * MIB,
    default: MIB,
    doc: 'Largest body; a larger one is refused with 413',
    unit: 'bytes',
  }),
  spoolFolder: path({
    optional: true,
    doc: 'A folder for what is beyond 64 KiB of a body, as unlinked files; without it, all stay in memory, 16 MiB of them at most',
  }),
  daemonAnswerMs: integer({
    min: 100,
    max: 3_600_000,
    default: 60_000,
    doc: 'Time for the daemon to begin its answer, then 504; a stream may last for any time',
    unit: 'ms',
  }),
  daemonIdleMs: integer({
    min: 1,
    max: 600_000,
    default: 1000,
    doc: 'How long an idle connection to the daemon is kept: less than the daemon’s own timeout',
    unit: 'ms',
  }),
  ...LIMITS_SPEC,
  shutdownGraceMs: integer({
    min: 0,
    max: 3_600_000,
    default: 10_000,
    doc: 'How long calls in progress, streams too, may take when the guard stops',
    unit: 'ms',
  }),
  deadlineMs: integer({
    min: 100,
    max: 30_000,
    default: 30_000,
    doc: 'Time for a whole request to arrive and be verified (SPEC.md, E7)',
    unit: 'ms',
  }),
} as const;

type Loaded = Config<typeof GUARD_SPEC> & { readonly root: Root };

export type GuardConfig = Loaded & Omit<ServingConstants, keyof Loaded>;

/**
 * Reads and validates the whole configuration, including the root's file and the folder for bodies.
 *
 * @throws ConfigError with every problem
 */
export function loadGuardConfig(env: Environment): GuardConfig {
  const config = loadConfig('GUARD', GUARD_SPEC, env);
  const problems = problemsOfTls('GUARD', config);
  const daemon = new URL(config.daemonUrl);
  if (daemon.pathname !== '/' || daemon.search !== '' || daemon.hash !== '')
    problems.push('GUARD_DAEMON_URL: expected an origin without a path: paths are passed on unchanged');
  const isOwnPort = config.mode === 'proxy' && portOf(daemon) === config.port;
  if (isOwnPort && isOfMachine(daemon.hostname) && isOfMachine(config.host))
    problems.push('GUARD_DAEMON_URL: expected the daemon, got the address of the guard itself');
  const root = readRoot(config.rootFile, problems);
  checkKeys({ ...config, root }, problems);
  if (config.spoolFolder !== undefined) checkSpool(config.spoolFolder, problems);
  if (!config.openPaths.every(isPath)) problems.push('GUARD_OPEN_PATHS: a path is too long');
  if (config.replay === 'redis' && !config.redisUrl) problems.push(missing('GUARD_REDIS_URL'));
  if (config.replay === 'postgres' && !config.databaseUrl) problems.push(missing('GUARD_DATABASE_URL'));
  if (config.answers && config.mode !== 'proxy')
    problems.push('GUARD_ANSWERS: expected GUARD_MODE=proxy: the guard must see the answers');
  if (config.answersKey && (!config.answers || config.replay === 'memory'))
    problems.push('GUARD_ANSWERS_KEY: expected GUARD_ANSWERS, and GUARD_REPLAY=redis or postgres');
  if (config.answerKey && !config.answers) problems.push('GUARD_ANSWER_KEY: expected GUARD_ANSWERS');
  if (config.databaseUrl)
    problems.push(...problemsOfAddress('GUARD_DATABASE_URL', config.databaseUrl.reveal()));
  if (problems.length > 0) throw new ConfigError(problems);
  return { ...config, root };
}

/** Of a URL that names none, the port of its protocol. */
export const portOf = ({ port, protocol }: URL) => Number(port) || (protocol === 'https:' ? 443 : 80);

/** An address that only this machine has, or all that it has. */
const isOfMachine = (host: string) => /^(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[?::1?\]?)$/.test(host);

const KEYS_PATH = /\/interns\/([^/]+)\/daemon\/jwks\.json$/;

/** As the library does too: it fetches nothing before a key is asked for. */
function checkKeys(config: Loaded, problems: string[]): void {
  const [, owner = config.internId] = KEYS_PATH.exec(config.keysUrl) ?? [];
  if (owner !== config.internId)
    problems.push('GUARD_KEYS_URL: it names another intern than GUARD_INTERN_ID');
  try {
    openKeys(config.keysUrl, config.root).close();
  } catch (error) {
    const { message } = error as TypeError;
    problems.push(message.replace(/^url/, 'GUARD_KEYS_URL').replace(/^root/, 'GUARD_ROOT_FILE'));
  }
}

/** Otherwise only the first large body would show it. */
function checkSpool(folder: string, problems: string[]): void {
  try {
    accessSync(`${folder}/.`, constants.W_OK | constants.X_OK);
  } catch (error) {
    const why = systemErrorCode(error);
    problems.push(`GUARD_SPOOL_FOLDER: cannot write into ${JSON.stringify(folder)} (${why})`);
  }
}

const missing = (name: string) => `${name}: required for this GUARD_REPLAY`;

function readRoot(file: string | undefined, problems: string[]): Root {
  if (file === undefined) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const why = error instanceof SyntaxError ? 'not JSON' : systemErrorCode(error);
    problems.push(`GUARD_ROOT_FILE: cannot read ${JSON.stringify(file)} (${why})`);
    return undefined;
  }
}

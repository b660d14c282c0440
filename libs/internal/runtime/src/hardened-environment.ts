import type { Environment } from './config.ts';

/** Names under `NODE_` that do not weaken the flags. */
const NODE_NAMES: ReadonlySet<string> = new Set([
  'NODE_ENV',
  'NODE_EXTRA_CA_CERTS',
  'NODE_NO_WARNINGS',
  'NODE_USE_ENV_PROXY',
  'NODE_USE_SYSTEM_CA',
  'NODE_VERSION',
]);
const NODE_OPTION =
  /^--(max-(old|semi)-space-size=\d+|max-old-space-size-percentage=\d+|enable-source-maps|use-(bundled|openssl|system)-ca|dns-result-order=\w+)$/;

/** Problems about variables that would weaken the hardened start, whatever its flags. */
export function problemsOfEnvironment(env: Environment): string[] {
  return [...problemsOfNode(env), ...problemsOfNativeCode(env)];
}

function problemsOfNode(env: Environment): string[] {
  const options = (env['NODE_OPTIONS'] ?? '').split(/\s+/).filter((word) => word !== '');
  const names = Object.keys(env).filter(
    (name) =>
      name.startsWith('NODE_') && name !== 'NODE_OPTIONS' && !NODE_NAMES.has(name) && env[name] !== '',
  );
  return [
    ...options
      .filter((word) => !NODE_OPTION.test(word))
      .map((word) => `NODE_OPTIONS: ${JSON.stringify(word.split('=')[0])} could weaken the hardened start`),
    ...names.sort().map((name) => `${name}: could weaken the hardened start; unset it`),
  ];
}

/**
 * Names of the dynamic loader and of OpenSSL that load native code into the process, regardless of the permission
 * model.
 */
const NATIVE_CODE_NAMES = [
  'LD_AUDIT',
  'LD_LIBRARY_PATH',
  'LD_PRELOAD',
  'OPENSSL_CONF',
  'OPENSSL_ENGINES',
  'OPENSSL_MODULES',
];

function problemsOfNativeCode(env: Environment): string[] {
  return NATIVE_CODE_NAMES.filter((name) => env[name]).map(
    (name) => `${name}: would load native code into the service; unset it`,
  );
}

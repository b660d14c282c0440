import {
  type Config,
  ConfigError,
  choice,
  type Environment,
  loadConfig,
  path,
  secret,
  text,
} from '@ori/runtime/config';
import { LOG_LEVELS } from '@ori/runtime/log';

/** The environment of the agent: `KMS_AGENT_…`. */
export const KMS_AGENT_SPEC = {
  socket: path({ doc: 'The Unix socket it listens on; created with mode 0660 in a folder that exists' }),
  backend: choice(['pkcs11', 'aws'], { doc: 'Where the key is: a PKCS#11 token or AWS KMS' }),
  pkcs11Module: path({ optional: true, doc: 'The PKCS#11 library of the token' }),
  pkcs11Token: text({ optional: true, doc: 'The label of the token' }),
  pkcs11Pin: secret({ optional: true, doc: 'The PIN of the token’s user' }),
  pkcs11KeyId: text({
    optional: true,
    doc: 'The id (CKA_ID) of an AES-256 key on it that may encrypt and decrypt',
    expected: 'hexadecimal digits',
    accepts: (value) => /^(?:[0-9a-fA-F]{2}){1,32}$/.test(value),
  }),
  awsKeyId: text({
    optional: true,
    doc: 'The id, ARN or alias of a symmetric key; region and credentials as the AWS SDK finds them (`AWS_…`)',
  }),
  logLevel: choice(LOG_LEVELS, {
    default: 'info',
    doc: 'Lowest level to log',
  }),
} as const;

type Loaded = Config<typeof KMS_AGENT_SPEC>;

export interface Pkcs11Config {
  readonly module: string;
  readonly token: string;
  readonly pin: NonNullable<Loaded['pkcs11Pin']>;
  readonly keyId: string;
  readonly tool: string;
  /** The environment of the command: its own settings, and those of the token's library. */
  readonly environment: Environment;
}

export interface AgentConfig extends Pick<Loaded, 'socket' | 'logLevel'> {
  readonly key: { readonly pkcs11: Pkcs11Config } | { readonly aws: { readonly keyId: string } };
}

/** @throws ConfigError with every problem */
export function loadAgentConfig(env: Environment): AgentConfig {
  const { socket, logLevel, ...loaded } = loadConfig('KMS_AGENT', KMS_AGENT_SPEC, env);
  if (loaded.backend === 'aws') {
    const { awsKeyId: keyId } = loaded;
    if (keyId === undefined) throw missing('AWS_KEY_ID');
    return { socket, logLevel, key: { aws: { keyId } } };
  }
  const { pkcs11Module: module, pkcs11Token: token, pkcs11Pin: pin, pkcs11KeyId: keyId } = loaded;
  if (module === undefined) throw missing('PKCS11_MODULE');
  if (token === undefined) throw missing('PKCS11_TOKEN');
  if (pin === undefined) throw missing('PKCS11_PIN');
  if (keyId === undefined) throw missing('PKCS11_KEY_ID');
  return {
    socket,
    logLevel,
    key: { pkcs11: { module, token, pin, keyId, tool: 'pkcs11-tool', environment: env } },
  };
}

const missing = (name: string) => new ConfigError([`KMS_AGENT_${name}: required for this KMS_AGENT_BACKEND`]);

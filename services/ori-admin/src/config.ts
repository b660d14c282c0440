import {
  type Config,
  type Environment,
  loadConfig,
  path,
  secret,
  text,
  url,
  variableName,
} from '@ori/runtime/config';
import { kmsUrlField } from '@ori/sealing/ring-spec';

const PREFIX = 'ORI_ADMIN';

/** The environment of `ori-admin`. Each command reads only the settings that it needs. */
export const ADMIN_SPEC = {
  databaseUrl: secret({
    doc: "PostgreSQL address of a login in `ori_operator`, for `migrate` of the database's owner: every command that reads or changes the database",
    expected: 'postgres://user:password@host:port/database',
    accepts: (value) => /^postgres(ql)?:\/\//.test(value) && URL.canParse(value),
  }),
  signerKekFile: path({
    doc: "The signer's ring of key-encryption keys, a JWK Set: `signing-key add` and `rotate`, `kek … signer`",
  }),
  managementKekFile: path({
    doc: "Management's ring of key-encryption keys, a JWK Set: `byok create` and `rotate`, `kek … management`",
  }),
  signerKmsUrl: kmsUrlField("The key of a KMS that wraps the KEKs in the signer's ring, as `SIGNER_KMS_URL`"),
  managementKmsUrl: kmsUrlField("The same for management's ring, as `MANAGEMENT_KMS_URL`"),
  rootKmsUrl: kmsUrlField(
    'The same for the keys of the root and its roles that `ori-admin` reads and writes',
  ),
  kmsTokenFile: path({ optional: true, doc: 'The token for all three, read for each call' }),
  keysRoleFile: path({
    optional: true,
    doc: 'The private key of the role that states which keys interns have: `root state`, `signing-key …`, `apply` where daemons pin a root',
  }),
  issuer: url({
    doc: 'The OpenID issuer, exactly as the services have it: the issuer of subjects',
  }),
  baseUrl: text({
    doc: 'The public base address, exactly as the signer has it: `root delegate`, and `signing-key …` where daemons pin a root',
    expected: 'a URL whose path ends in /v1, without query or fragment',
    accepts: (value) => URL.canParse(value) && /^https?:\/\/[^?#@]*\/v1$/.test(value),
  }),
} as const;

type AdminConfig = Config<typeof ADMIN_SPEC>;

/**
 * The settings that a command needs.
 *
 * @throws ConfigError with all errors, including unknown `ORI_ADMIN_…` names
 */
export function loadAdminConfig<Key extends keyof AdminConfig>(
  env: Environment,
  needed: readonly Key[],
): Pick<AdminConfig, Key> {
  const isNeeded = (key: string) => needed.some((name) => name === key);
  const unneeded = Object.keys(ADMIN_SPEC)
    .filter((key) => !isNeeded(key))
    .map((key) => variableName(PREFIX, key))
    .flatMap((name) => [name, `${name}_FILE`]);
  const spec = Object.fromEntries(Object.entries(ADMIN_SPEC).filter(([key]) => isNeeded(key)));
  const seen = Object.fromEntries(Object.entries(env).filter(([name]) => !unneeded.includes(name)));
  return loadConfig(PREFIX, spec, seen) as unknown as Pick<AdminConfig, Key>;
}

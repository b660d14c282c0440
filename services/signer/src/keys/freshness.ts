import { encodeSignature } from '@ori/proof/signature';
import type { SigningKey } from '@ori/proof/signing';
import { type Role, setStatementInput } from '@ori/proof/statements';
import { ConfigError } from '@ori/runtime/config';
import { followFiles } from '@ori/runtime/follow-files';
import { instrumentsOf, type Registry } from '@ori/runtime/instruments';
import type { Logger } from '@ori/runtime/log';
import { type DelegationLine, openRoleKey, publicJwkOf, readDelegations } from '@ori/sealing/roles';
import { untilKmsAnswers } from '@ori/sealing/service-ring';
import type { SignerConfig } from '../config.ts';
import { DependencyError } from '../core/dependency-error.ts';

type RolesConfig = Pick<
  SignerConfig,
  'freshnessKeyFile' | 'delegationsFile' | 'kmsUrl' | 'kmsTokenFile' | 'baseUrl'
>;

export interface HeldRoles {
  readonly key: SigningKey;
  readonly delegations: readonly DelegationLine[];
}

/** @param held returns the current key of the freshness role and the current delegations of this deployment */
export function createKeySetRoles({ baseUrl }: Pick<RolesConfig, 'baseUrl'>, held: () => HeldRoles) {
  /** When this signer's role ends; 0 if it is not in force. */
  const endOf = (role: Role, at: number): number => {
    const { key, delegations } = held();
    const { x } = publicJwkOf(key);
    const good = delegations.filter(
      (one) => one.role === role && one.nbf * 1000 <= at && (role === 'keys' || one.x === x),
    );
    return Math.max(0, ...good.map(({ exp }) => exp));
  };
  const endsAt = (at: number): number => Math.min(endOf('keys', at), endOf('freshness', at));
  return {
    /** The member `ori` of a set, without the statements of its keys. @throws DependencyError `roles` if a role has ended */
    member(at: number): object {
      if (endsAt(at) * 1000 <= at)
        throw new DependencyError('roles', 'no delegation of a key-set role is in force');
      const current = held().delegations.filter(({ exp }) => exp * 1000 > at);
      return { delegations: current.map(({ base: _base, ...shown }) => shown) };
    },
    /** The header of an answer, which states that these bytes are the intern's set at this time. */
    state(internId: string, at: number, sha256: string): string {
      const input = setStatementInput({ baseUrl, internId, at, sha256 });
      return `${at} ${encodeSignature(held().key.sign(input))}`;
    },
    /** When the first of the roles ends, in Unix seconds. */
    endsAt: () => endsAt(Date.now()),
  };
}

/** The signer's role in vouching for key sets, where daemons pin a root (ROOTED-KEY-SETS.md). */
export type KeySetRoles = ReturnType<typeof createKeySetRoles>;

/**
 * Reads the key of the freshness role and the delegations, and reloads both files when they change. A KMS that does not unwrap
 * the key is asked again, as for the ring.
 *
 * @returns undefined if neither is configured
 * @throws ConfigError
 */
export async function openKeySetRoles(
  config: RolesConfig,
  log: Pick<Logger, 'info' | 'error'>,
): Promise<(KeySetRoles & { close(): void }) | undefined> {
  const { freshnessKeyFile, delegationsFile } = config;
  if (freshnessKeyFile === undefined || delegationsFile === undefined) return undefined;
  const read = () => load(config, freshnessKeyFile, delegationsFile);
  const unwrapped = (signal?: AbortSignal) => untilKmsAnswers('the freshness key', read, log, signal);
  const { inUse, close } = await followFiles([freshnessKeyFile, delegationsFile], unwrapped, {
    changed: () => log.info('key-set roles reloaded'),
    failed: (err) => log.error({ err }, 'could not reload the key-set roles; the previous ones stay in use'),
  });
  return { ...createKeySetRoles(config, inUse), close };
}

/** When the roles end, for an alert: from then on, a daemon that pins a root refuses every proof. */
export function collectKeySetRoles(registry: Registry, roles: Pick<KeySetRoles, 'endsAt'>): void {
  instrumentsOf(registry).reading(
    'signer_key_set_roles_end_timestamp_seconds',
    'When the first role that vouches for key sets ends, in Unix seconds; only where daemons pin a root.',
    () => roles.endsAt(),
  );
}

async function load(config: RolesConfig, keyFile: string, delegationsFile: string): Promise<HeldRoles> {
  const { kmsUrl, kmsTokenFile, baseUrl } = config;
  const variable = 'SIGNER_DELEGATIONS_FILE';
  const delegations = readDelegations({ path: delegationsFile, variable });
  const stray = delegations.findIndex((one) => one.base !== baseUrl);
  if (stray >= 0) throw new ConfigError([`${variable}: delegation ${stray + 1} is for another base address`]);
  const key = await openRoleKey({
    path: keyFile,
    variable: 'SIGNER_FRESHNESS_KEY_FILE',
    kmsUrl,
    kmsTokenFile,
  });
  const { x } = publicJwkOf(key);
  if (!delegations.some((one) => one.role === 'freshness' && one.x === x))
    throw new ConfigError([`${variable}: no delegation of the role "freshness" is for the freshness key`]);
  return { key, delegations };
}

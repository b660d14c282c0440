import type { ByokUpdate } from '@ori/byok/credential';
import { DECLARED_REGIONS } from '@ori/store/vocabulary';
import { type Command, Option } from 'commander';
import { UsageError } from '../failure.ts';
import { collected, given, wholeNumber } from '../options.ts';

export interface KeySourceOptions {
  readonly keyFile?: string;
  readonly key?: unknown;
}

/** How a key comes in. `--key` is known only to be refused: what it held was seen by every process of the machine. */
export function addKeySource(command: Command): Command {
  return command
    .option('--key-file <file>', 'file that holds the key and nothing else (else stdin)')
    .addOption(new Option('--key [key]').hideHelp());
}

/** @throws UsageError, which does not quote it */
export function requireNoKeyArgument({ key }: KeySourceOptions): void {
  if (key === undefined) return;
  throw new UsageError(
    'A key is never an argument: every process of this machine can read those, and the shell remembers them.',
    'Pipe it in or name its file with --key-file; replace the key that was given here.',
  );
}

export interface PolicyOptions {
  readonly name?: string;
  readonly disabled?: true;
  readonly fallback?: true;
  readonly required?: true;
  readonly byokOnly?: true;
  readonly allowedKey?: string[];
  readonly allowedModel?: string[];
  readonly allowedUser?: string[];
  readonly declaredRegion?: NonNullable<ByokUpdate['declared_region']>;
  readonly declaredZdr?: 'true' | 'false';
}

/** What a credential says besides its key, as the API has it. */
export function addPolicy(command: Command): Command {
  return command
    .option('--name <name>', 'what people call it')
    .option('--disabled', 'do not use it yet')
    .option('--fallback', 'use it only after the other credentials of the provider')
    .option('--required', "no shared endpoints of the provider for the credential's models")
    .option('--byok-only', 'no shared endpoints of the provider for any model')
    .option('--sort-order <number>', 'its place among the others', wholeNumber(-2_147_483_648, 2_147_483_647))
    .option('--allowed-key <hash>', 'only for this API key; may be repeated', collected)
    .option('--allowed-model <slug>', 'only for this model; may be repeated', collected)
    .option('--allowed-user <id>', 'only for this user; may be repeated', collected)
    .addOption(
      new Option('--declared-region <region>', 'where the upstream account is').choices(DECLARED_REGIONS),
    )
    .addOption(
      new Option('--declared-zdr <yes>', 'whether the upstream account retains no data').choices([
        'true',
        'false',
      ]),
    );
}

/** The same in the API's words. */
export function policyOf(options: PolicyOptions): Omit<ByokUpdate, 'key'> {
  return given({
    name: options.name,
    disabled: options.disabled,
    is_fallback: options.fallback,
    is_required: options.required,
    is_byok_only: options.byokOnly,
    allowed_api_key_hashes: options.allowedKey,
    allowed_models: options.allowedModel,
    allowed_user_ids: options.allowedUser,
    declared_region: options.declaredRegion,
    declared_zdr: options.declaredZdr === undefined ? undefined : options.declaredZdr === 'true',
  });
}

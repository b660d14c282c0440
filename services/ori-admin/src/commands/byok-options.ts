import type { ByokUpdate } from '@ori/store/byok/credential';
import { DECLARED_REGIONS } from '@ori/store/vocabulary';
import { Option } from 'commander';
import type { Command } from '../command.ts';
import { UsageError } from '../failure.ts';
import { collected, wholeNumber } from '../options.ts';

export interface KeySourceOptions {
  readonly keyFile?: string;
  readonly key?: unknown;
}

/**
 * Where the key is read from. `--key` is declared only to be refused: every process of the machine could see its value.
 */
export function addKeySource(command: Command): Command {
  return command
    .option('--key-file <file>', 'file that contains only the key (default: stdin)')
    .addOption(new Option('--key [key]').hideHelp());
}

/** @throws UsageError, which does not quote the key */
export function requireNoKeyArgument({ key }: KeySourceOptions): void {
  if (key === undefined) return;
  throw new UsageError(
    'Do not pass a key as an argument: every process of this machine can read it, and the shell history keeps it.',
    'Pipe it in or name its file with --key-file, and replace the exposed key at its provider.',
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

/** The fields of a credential besides its key, as in the API. */
export function addPolicy(command: Command): Command {
  return command
    .option('--name <name>', 'display name')
    .option('--disabled', 'create it disabled')
    .option('--fallback', 'use it only after the other credentials of its provider')
    .option('--required', 'do not use shared endpoints of the provider for these models')
    .option('--byok-only', 'do not use shared endpoints of the provider for any model')
    .option(
      '--sort-order <number>',
      'its position in the order of credentials',
      wholeNumber(-2_147_483_648, 2_147_483_647),
    )
    .option('--allowed-key <hash>', 'only for this API key; may be repeated', collected)
    .option('--allowed-model <slug>', 'only for this model; may be repeated', collected)
    .option('--allowed-user <id>', 'only for this user; may be repeated', collected)
    .addOption(
      new Option('--declared-region <region>', 'region of the upstream account').choices(DECLARED_REGIONS),
    )
    .addOption(
      new Option('--declared-zdr <yes>', 'whether the upstream account retains no data').choices([
        'true',
        'false',
      ]),
    );
}

export function policyOf(options: PolicyOptions): Omit<ByokUpdate, 'key'> {
  return {
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
  };
}

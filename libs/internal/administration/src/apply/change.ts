import type { Schema } from '@ori/store/schema';
import type { Transaction } from 'kysely';

/** A step from what is stored to what the file says: `+` creates, `~` changes, `-` removes. */
export interface Change {
  readonly sign: '+' | '~' | '-';
  readonly what: string;
  readonly take: Take;
}

type Take = (db: { readonly kysely: Transaction<Schema> }) => Promise<unknown>;
export type Add = (sign: Change['sign'], what: string, take: Take) => void;

import { admitPublicKey } from '@ori/proof/public-key';
import { decodeSignature, encodeSignature } from '@ori/proof/signature';
import { keyStatementInput } from '@ori/proof/statements';
import type { Database } from '@ori/store/database';
import type { Schema, SigningKeysTable } from '@ori/store/schema';
import { AdminError } from '@ori/store/writes/admin-error';
import type { Selectable, Transaction } from 'kysely';

/** The role that states which keys the interns of a deployment have. */
export interface KeyStater {
  /** The public base address, exactly as the signer is configured with it. */
  readonly baseUrl: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  sign(input: Uint8Array): Uint8Array;
}

type Stated = Pick<
  Selectable<SigningKeysTable>,
  'id' | 'intern_id' | 'public_key' | 'not_before' | 'expires_at' | 'statement'
>;
export const STATED = ['id', 'intern_id', 'public_key', 'not_before', 'expires_at', 'statement'] as const;

export function makeStatement(
  row: Omit<Stated, 'id' | 'statement'>,
  stater: KeyStater | undefined,
): string | null {
  return stater === undefined ? null : encodeSignature(stater.sign(inputOf(row, stater)));
}

/**
 * Changes when a key expires. Its statement names that time, so it is made again, by the role that made it: a statement that
 * somebody else wrote into the row is not confirmed.
 *
 * @throws AdminError `conflict` if the key carries a statement that the stater did not make
 */
export async function endKey(
  tx: Transaction<Schema>,
  row: Stated,
  expiresAt: number,
  stater: KeyStater | undefined,
): Promise<void> {
  let statement = row.statement;
  if (statement !== null) {
    if (stater === undefined || !isMadeBy(stater.publicKey, row, stater)) {
      throw new AdminError(
        'conflict',
        `the key ${row.id} carries a statement by another role: use the file of that role, or revoke the key`,
      );
    }
    statement = makeStatement({ ...row, expires_at: expiresAt }, stater);
  }
  await tx
    .updateTable('signing_keys')
    .set({ expires_at: expiresAt, statement })
    .where('id', '=', row.id)
    .execute();
}

/** Statements that are made again by another role, and by which. */
export interface Restating {
  readonly stater: KeyStater;
  /** Names of keys. */
  readonly stated: string[];
  /** Keys with a statement that neither the stater nor `former` made, or with none. */
  readonly skipped: string[];
  /** The new statement of what one key's says; undefined if the old one stays. */
  again(name: string, input: Uint8Array, statement: string | null | undefined): string | undefined;
}

/** Has the stater state what `former`, the role before it, stated; with `all` also what nobody stated. Can be repeated. */
export function createRestating(
  stater: KeyStater,
  { former, all = false }: { readonly former?: Uint8Array | undefined; readonly all?: boolean | undefined },
): Restating {
  const roles = [stater.publicKey, ...(former ? [former] : [])].map((key) => admitPublicKey(key));
  const stated: string[] = [];
  const skipped: string[] = [];
  return {
    stater,
    stated,
    skipped,
    again(name, input, statement) {
      const before = statement ?? undefined;
      const isKnown =
        before === undefined ? all : roles.some((role) => role.verify(input, decodeSignature(before)));
      (isKnown ? stated : skipped).push(name);
      return isKnown ? encodeSignature(stater.sign(input)) : undefined;
    },
  };
}

export async function restateKeys(db: Database, { stater, again }: Restating): Promise<void> {
  for (let after = ''; ; ) {
    const rows = await db.kysely.transaction().execute(async (tx) => {
      const page = await tx
        .selectFrom('signing_keys')
        .select(STATED)
        .where('retired_at', 'is', null)
        .where('id', '>', after)
        .orderBy('id')
        .limit(PAGE)
        .forUpdate()
        .execute();
      for (const row of page) {
        const statement = again(row.id, inputOf(row, stater), row.statement);
        if (statement === undefined) continue;
        await tx.updateTable('signing_keys').set({ statement }).where('id', '=', row.id).execute();
      }
      return page;
    });
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

const PAGE = 500;

function inputOf(row: Omit<Stated, 'id' | 'statement'>, { baseUrl }: KeyStater): Uint8Array {
  return keyStatementInput({
    baseUrl,
    internId: row.intern_id,
    publicKey: new Uint8Array(row.public_key),
    notBefore: row.not_before,
    expiresAt: row.expires_at,
  });
}

function isMadeBy(publicKey: Uint8Array, row: Stated, stater: KeyStater): boolean {
  return (
    row.statement !== null &&
    admitPublicKey(publicKey).verify(inputOf(row, stater), decodeSignature(row.statement))
  );
}

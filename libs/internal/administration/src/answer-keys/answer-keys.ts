import { randomBytes } from 'node:crypto';
import { admitPublicKey } from '@ori/proof/public-key';
import { encodeSignature } from '@ori/proof/signature';
import { createSigningKey } from '@ori/proof/signing';
import { answerKeyStatementInput } from '@ori/proof/statements';
import type { Database, Handle } from '@ori/store/database';
import type { AnswerKey } from '@ori/store/facts';
import { sql } from 'kysely';
import type { KeyStater } from '../key-statements.ts';

/** A new key with which a daemon proves its answers: the text of its file, and the public half for `apply`. */
export function makeAnswerKey(): { text: string; x: string } {
  const seed = randomBytes(32);
  try {
    const x = Buffer.from(createSigningKey(seed).publicKey).toString('base64url');
    return { text: `${seed.toString('base64url')}\n`, x };
  } finally {
    seed.fill(0);
  }
}

export interface NewAnswerKeys {
  readonly internId: string;
  /** The public keys in base64url; null for none. */
  readonly keys: readonly string[] | null;
  /** Those that are stored. They keep their statements where nobody states. */
  readonly former: readonly AnswerKey[];
  readonly stater?: KeyStater | undefined;
}

/** Publishes these keys of an intern in place of its former ones. */
export async function setAnswerKeys(db: Handle, wanted: NewAnswerKeys): Promise<void> {
  const { internId, keys, former, stater } = wanted;
  const stored = (keys ?? []).map((x) =>
    stater === undefined
      ? (former.find((one) => one.x === x) ?? { x })
      : { x, statement: encodeSignature(stater.sign(inputOf(internId, x, stater))) },
  );
  await store(db, internId, stored);
}

/**
 * Has the stater state the answer keys that `former`, the role before it, stated; with `all` also those that nobody stated.
 * Returns their names, as `restateKeys` does. Can be repeated.
 */
export async function restateAnswerKeys(
  db: Database,
  stater: KeyStater,
  { former, all = false }: { readonly former?: Uint8Array | undefined; readonly all?: boolean | undefined },
): Promise<{ readonly stated: readonly string[]; readonly skipped: readonly string[] }> {
  const roles = [stater.publicKey, ...(former === undefined ? [] : [former])].map((key) =>
    admitPublicKey(key),
  );
  const stated: string[] = [];
  const skipped: string[] = [];
  await db.kysely.transaction().execute(async (tx) => {
    const interns = await tx
      .selectFrom('interns')
      .select(['id', 'answer_keys'])
      .where('answer_keys', 'is not', null)
      .orderBy('id')
      .forUpdate()
      .execute();
    for (const { id, answer_keys: keys } of interns) {
      const next = (keys ?? []).map((key) => {
        const input = inputOf(id, key.x, stater);
        const isKnown =
          key.statement === undefined
            ? all
            : roles.some((role) => role.verify(input, Buffer.from(key.statement ?? '', 'base64')));
        (isKnown ? stated : skipped).push(`${id} ${key.x}`);
        return isKnown ? { ...key, statement: encodeSignature(stater.sign(input)) } : key;
      });
      await store({ kysely: tx }, id, next);
    }
  });
  return { stated, skipped };
}

async function store({ kysely }: Handle, internId: string, keys: readonly AnswerKey[]): Promise<void> {
  await kysely
    .updateTable('interns')
    .set({ answer_keys: keys.length === 0 ? null : JSON.stringify(keys), updated_at: sql<Date>`now()` })
    .where('id', '=', internId)
    .execute();
}

function inputOf(internId: string, x: string, { baseUrl }: KeyStater): Uint8Array {
  return answerKeyStatementInput({ baseUrl, internId, publicKey: Buffer.from(x, 'base64url') });
}

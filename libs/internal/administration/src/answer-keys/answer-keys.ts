import { randomBytes } from 'node:crypto';
import { encodeSignature } from '@ori/proof/signature';
import { createSigningKey } from '@ori/proof/signing';
import { answerKeyStatementInput } from '@ori/proof/statements';
import type { Database, Handle } from '@ori/store/database';
import type { AnswerKey } from '@ori/store/facts';
import { sql } from 'kysely';
import type { KeyStater, Restating } from '../key-statements.ts';

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

/** Publishes these keys of an intern in place of its former ones, which keep their statements where nobody states. */
export async function setAnswerKeys(
  db: Handle,
  internId: string,
  keys: readonly string[] | null,
  {
    former = [],
    stater,
  }: { readonly former?: readonly AnswerKey[]; readonly stater?: KeyStater | undefined } = {},
): Promise<void> {
  const stored = (keys ?? []).map((x) =>
    stater === undefined
      ? (former.find((one) => one.x === x) ?? { x })
      : { x, statement: encodeSignature(stater.sign(inputOf(internId, x, stater))) },
  );
  await store(db, internId, stored);
}

/** `restateKeys`, of answer keys. */
export async function restateAnswerKeys(db: Database, { stater, again }: Restating): Promise<void> {
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
        const statement = again(`${id} ${key.x}`, inputOf(id, key.x, stater), key.statement);
        return statement === undefined ? key : { ...key, statement };
      });
      await store({ kysely: tx }, id, next);
    }
  });
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

import { DurableObject, env } from 'cloudflare:workers';
import { createRemoteKeySet, createVerifier, ProofError } from '@ori/verifier';
import { requireProof } from '@ori/verifier/fetch';

/** Longer than any proof is accepted: 600 s of age, 60 s of tolerance, 30 s of upload. */
const KEEP_SECONDS = 900;
const UPLOAD_SECONDS = 30;

export class SpentProofs extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS spent (nonce TEXT PRIMARY KEY, stamped INTEGER)');
    ctx.storage.sql.exec('CREATE INDEX IF NOT EXISTS spent_stamped ON spent (stamped)');
    ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS floor (id INTEGER PRIMARY KEY, stamped REAL)');
    ctx.storage.sql.exec('INSERT OR IGNORE INTO floor VALUES (0, 0)');
  }

  /** The verdict. What was forgotten is refused for good, also if the clock goes back. */
  spend(nonce, timestamp, { maxAgeSeconds, clockToleranceSeconds }) {
    const { sql } = this.ctx.storage;
    const now = Date.now() / 1000;
    if (timestamp > now + clockToleranceSeconds) return 'proof_not_yet_valid';
    const raise = 'UPDATE floor SET stamped = max(stamped, ?) RETURNING stamped';
    const floor = sql.exec(raise, now - KEEP_SECONDS).one().stamped;
    sql.exec('DELETE FROM spent WHERE stamped <= ?', floor);
    const oldest = now - maxAgeSeconds - clockToleranceSeconds - UPLOAD_SECONDS;
    if (timestamp <= Math.max(floor, oldest)) return 'proof_expired';
    const insert = 'INSERT INTO spent VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING nonce';
    return sql.exec(insert, nonce, timestamp).toArray().length === 1 ? 'spent' : 'nonce_replayed';
  }
}

export const replay = {
  attach({ acceptV1 }) {
    if (acceptV1) throw new TypeError('acceptV1: this store remembers nonces alone');
  },
  async spend({ policy, nonce, timestamp }) {
    const object = env.SPENT_PROOFS.get(env.SPENT_PROOFS.idFromName(policy.internId));
    const { maxAgeSeconds, clockToleranceSeconds } = policy;
    const verdict = await object.spend(nonce, timestamp, { maxAgeSeconds, clockToleranceSeconds });
    if (verdict === 'spent') return verdict;
    throw new ProofError(verdict, 'refused by the Durable Object');
  },
};

const keys = createRemoteKeySet('https://ori.example/v1/interns/int_7Qm2/daemon/jwks.json');
const verifier = createVerifier({ internId: 'int_7Qm2', keys, replay });

export default {
  fetch: requireProof(verifier, { bodyBytesMax: 1_000_000 }, (request, { proof, body }) => {
    const { prompt } = JSON.parse(new TextDecoder().decode(body));
    return Response.json({ user: proof.user, prompt });
  }),
};

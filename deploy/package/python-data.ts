import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BODY_INCOMPLETE, SENTENCES } from '../../libs/public/verifier/src/refusal.ts';
import { POSTGRES_REPLAY_SQL } from '../../libs/public/verifier/src/replay/postgres/schema.ts';
import { SCHEMA_VERSION } from '../../libs/public/verifier/src/replay/postgres/tables.ts';
import { REDIS_SCRIPTS } from '../../libs/public/verifier/src/replay/redis/scripts.ts';
import * as limits from '../../libs/public/verifier/src/replay/times.ts';

/** What two languages share: `ori_proof` reads it. */
const FILE = fileURLToPath(new URL('../../libs/public/python/src/ori_proof/shared.json', import.meta.url));

/** The sentence of each refusal, the scripts with the digests by which EVALSHA names them, the SQL, and the limits of times.ts. */
export function renderPythonData(): string {
  const digest = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex');
  const redis = Object.fromEntries(
    Object.entries(REDIS_SCRIPTS).map(([name, source]) => [name, { sha1: digest('sha1', source), source }]),
  );
  const sql = POSTGRES_REPLAY_SQL;
  const numbers = Object.entries(limits)
    .filter(([, value]) => typeof value === 'number')
    .toSorted();
  const incomplete = [BODY_INCOMPLETE.status, JSON.parse(BODY_INCOMPLETE.body).error.message];
  const refusals = Object.fromEntries(
    Object.entries({ ...SENTENCES, body_incomplete: incomplete }).map(([code, [status, message]]) => [
      code,
      { status, message },
    ]),
  );
  return `${JSON.stringify({ refusals, limits: Object.fromEntries(numbers), redis, postgres: { version: SCHEMA_VERSION, sha256: digest('sha256', sql), sql } }, null, 2)}\n`;
}

export const isPythonDataCurrent = (): boolean => readFileSync(FILE, 'utf8') === renderPythonData();

if (import.meta.main) writeFileSync(FILE, renderPythonData());

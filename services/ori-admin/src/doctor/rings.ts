import type { Environment } from '@ori/runtime/config';
import type { KekOwner, KekRing } from '@ori/sealing/kek-ring';
import { openRingFile } from '@ori/sealing/read-kek-ring';
import { countByKek } from '@ori/store/admin';
import type { Context } from '../context.ts';
import { CheckFailed } from './finding.ts';
import { loadPart, type Prefix, RING } from './settings.ts';

/** The ring of a service against the rows that are sealed: each of them must open. */
export async function lookAtRing(admin: Context, owner: KekOwner, env: Environment): Promise<string> {
  const ring = await openRing(admin, owner, env);
  const sealed = [...(await admin.withDatabase((db) => countByKek(db, owner)))];
  const missing = sealed.filter(([kid]) => !ring.kids.includes(kid));
  if (missing.length > 0) {
    const what = missing.map(([kid, rows]) => `${rows} rows are sealed under ${kid}, which the ring lacks`);
    throw new CheckFailed(what.join('; '), 'put the key back into the ring, from the offline copy');
  }
  const rows = sealed.reduce((sum, [, count]) => sum + count, 0);
  return `holds every KEK of ${rows} sealed rows; seals under ${ring.primary.kid}`;
}

/** The ring that the service reads; where its settings are not given, the operator's. */
async function openRing(admin: Context, owner: KekOwner, env: Environment): Promise<KekRing> {
  const prefix = owner.toUpperCase() as Prefix;
  if (env[`${prefix}_KEK_FILE`] === undefined) return await admin.readRing(owner);
  const { kekFile, kmsUrl, kmsTokenFile } = loadPart(prefix, RING, env);
  const rules = { owner };
  return await openRingFile({ path: kekFile, variable: `${prefix}_KEK_FILE`, rules, kmsUrl, kmsTokenFile });
}

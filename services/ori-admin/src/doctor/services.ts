import { access, constants, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { countByKek } from '@ori/administration/reseal';
import type { Environment } from '@ori/runtime/config';
import { systemErrorCode } from '@ori/runtime/system-error-code';
import type { KekOwner, KekRing } from '@ori/sealing/kek-ring';
import { openRingFile } from '@ori/sealing/read-kek-ring';
import { ringFileOf } from '@ori/sealing/service-ring';
import type { Context } from '../context.ts';
import { CheckFailed } from './finding.ts';
import { AUDIT, loadPart, type Prefix, RING } from './settings.ts';

const TIMEOUT_MS = 3000;

/** Half an hour of lines at a thousand proofs a second. */
const FREE_BYTES_MIN = 1024 ** 3;

/** The folder of the signer's audit file: without a writable one nothing is signed. */
export async function lookAtAuditFolder(env: Environment): Promise<string> {
  const folder = dirname(loadPart('SIGNER', AUDIT, env).auditFile);
  try {
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const fix = "create it, and give it to the signer's user; run ori-admin doctor as that user";
    throw new CheckFailed(`${folder} cannot be written (${systemErrorCode(error)})`, fix);
  }
  const { bavail, bsize } = await statfs(folder);
  const free = `${((bavail * bsize) / 1024 ** 3).toFixed(1)} GiB free`;
  if (bavail * bsize < FREE_BYTES_MIN) {
    throw new CheckFailed(
      `${folder} has ${free}`,
      'move rotated audit files away: a full disk stops signing',
    );
  }
  return `${folder} is writable, ${free}`;
}

/** A running service or log: what it says of itself at its ops port. */
export async function lookAtInstance(url: string): Promise<string> {
  const answer = await fetch(new URL('/readyz', url), {
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
  });
  const { checks = {}, causes = {} } = (await answer.json().catch(() => ({}))) as Readyz;
  const failing = Object.entries(checks).filter(([, verdict]) => verdict !== 'ok');
  if (failing.length > 0) {
    const why = failing.map(([name, verdict]) => `${name}: ${causes[name] ?? verdict}`);
    throw new CheckFailed(why.join('; '), 'correct the cause; the instance then becomes ready by itself');
  }
  if (!answer.ok || Object.keys(checks).length === 0) {
    throw new CheckFailed(
      `answered ${answer.status}, not as an ops port`,
      'give the address of the ops port',
    );
  }
  return `ready: ${Object.keys(checks).join(', ')}`;
}

interface Readyz {
  readonly checks?: Readonly<Record<string, string>>;
  readonly causes?: Readonly<Record<string, string>>;
}

/** The ring of a service against the rows that are sealed: each of them must open. Skipped for one that is not deployed. */
export async function lookAtRing(admin: Context, owner: KekOwner, env: Environment): Promise<string> {
  const sealed = [...(await admin.withDatabase((db) => countByKek(db, owner)))];
  const setting = owner.toUpperCase();
  const names = Object.keys(env).filter((name) => env[name]);
  if (sealed.length === 0 && !names.some((name) => isOf(setting, name)))
    throw new CheckFailed(
      `no ${setting}_… setting is given, and no row is sealed under it`,
      `name its file with ORI_ADMIN_${setting}_KEK_FILE once ${owner} is deployed`,
      'skipped',
    );
  const ring = await openRing(admin, owner, env);
  const missing = sealed.filter(([kid]) => !ring.kids.includes(kid));
  if (missing.length > 0) {
    const what = missing.map(([kid, rows]) => `${rows} rows are sealed under ${kid}, which the ring lacks`);
    throw new CheckFailed(what.join('; '), 'put the key back into the ring, from the offline copy');
  }
  const rows = sealed.reduce((sum, [, count]) => sum + count, 0);
  return `holds every KEK of ${rows} sealed rows; seals under ${ring.primary.kid}`;
}

const isOf = (setting: string, name: string): boolean =>
  name.startsWith(`${setting}_`) || name.startsWith(`ORI_ADMIN_${setting}_`);

/** The ring that the service reads; where its settings are not given, the operator's. */
async function openRing(admin: Context, owner: KekOwner, env: Environment): Promise<KekRing> {
  const prefix = owner.toUpperCase() as Prefix;
  if (env[`${prefix}_KEK_FILE`] === undefined) return await admin.readRing(owner);
  return await openRingFile(ringFileOf(owner, loadPart(prefix, RING, env)));
}

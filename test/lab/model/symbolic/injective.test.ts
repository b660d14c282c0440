import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signingInputV1, signingInputV2 } from '@ori/proof';
import { expect, test } from 'vitest';
import { findProgram, openRoom } from '../../../env/room.ts';

const PROOF = readFileSync(new URL('./injective.v', import.meta.url), 'utf8');
const coqc = findProgram('coqc');
if (coqc === undefined) process.stderr.write('signing input: not proven, because Coq is not installed\n');

/** Field lists at the ends of their lengths. */
const SAMPLES = [
  { internId: 'a', timestamp: 0, user: 'u', path: '/' },
  { internId: 'int_7Qm2', timestamp: 1_789_000_000, user: 'user_2abc', path: '/api/invoke' },
  {
    internId: 'i'.repeat(128),
    timestamp: 999_999_999_999,
    user: '9:'.repeat(127),
    path: `/12:,${'p'.repeat(2043)}`,
  },
].map((fields) => ({
  ...fields,
  bodySha256: '8a44725210b9dcd4fefd9f0eca07b70ae45e69274a3105fb25eb426a2cf8bbf4',
  nonce: 'AAECAwQFBgcICQoLDA0ODw',
  method: 'POST' as const,
}));

/** What the code makes of them, as lemmas that Coq computes. */
function examples(): string {
  const text = (bytes: Uint8Array) => `"${Buffer.from(bytes).toString('latin1').replaceAll('"', '""')}"`;
  return SAMPLES.flatMap((sample, index) => {
    const { internId, timestamp, user, bodySha256, nonce, method, path } = sample;
    const common = `"${internId}" "${timestamp}"`;
    return [
      `Example v1_${index} : v1 ${common} "${user}" "${bodySha256}" = ${text(signingInputV1(sample))}.`,
      'Proof. vm_compute. reflexivity. Qed.',
      `Example v2_${index} : v2 ${common} "${nonce}" "${user}" "${method}" "${path}" "${bodySha256}" = ${text(signingInputV2(sample))}.`,
      'Proof. vm_compute. reflexivity. Qed.',
    ];
  }).join('\n');
}

test.runIf(coqc)(
  'different lists of fields never have the same signing input: proven without axioms',
  { timeout: 300_000 },
  async () => {
    await using room = await openRoom('ori-injective');
    const file = join(room.directory, 'injective.v');
    writeFileSync(file, `${PROOF}\n${examples()}\n`);
    const output = execFileSync(coqc ?? '', ['-q', file], { encoding: 'utf8' });
    const asked = PROOF.match(/^Print Assumptions/gm) ?? [];
    expect(PROOF).not.toMatch(/\b(Admitted|Axiom|Parameter|Conjecture|admit)\b/);
    expect(output.trim().split('\n')).toEqual(asked.map(() => 'Closed under the global context'));
  },
);

import { writeFile } from 'node:fs/promises';
import { explainSystemError } from '@ori/faces/system-error';
import { commitmentV2, hasCommitment, parseEntry } from '@ori/tlog/entry';
import { TlogError } from '@ori/tlog/error';
import type { Policy } from '@ori/tlog/policy';
import { parseTlogProof, renderTlogProof, type TlogProof, verifyTlogProof } from '@ori/tlog/proof';
import { CliError } from '../core/errors.ts';
import type { Profile } from '../session/profile.ts';
import { openLog, type PolicyOptions, readPolicy, trusted, usable } from './policy.ts';
import { isSigned, type LoggedRequestOptions, takeLoggedRequest } from './request.ts';

export interface LogVerifyOptions extends LoggedRequestOptions, PolicyOptions {
  /** A `.tlog-proof` file to use instead of asking the log. */
  readonly proof?: string;
  readonly out?: string;
}

/**
 * Verifies that the proof of a call is in the signing log: by asking the log, or offline with a `.tlog-proof` file. Throws
 * CliError `proof_not_for_call` if the proof is for another call than the command line says, `proof_not_logged` if
 * it is in no entry, `log_not_trusted` if the log contradicts itself or the policy; `log_file_unusable`, `not_a_log` and
 * `unreachable` for a policy or an address that cannot be used.
 */
export async function logVerify(profile: Profile, intern: string, options: LogVerifyOptions): Promise<void> {
  const policy = await readPolicy(options);
  const request = await takeLoggedRequest(profile, intern, options);
  const commitment = commitmentV2(request.signingInput);
  const { internId } = request;
  let proof: TlogProof;
  if (options.proof === undefined) {
    // A call that nobody signed is in no log, which is no reason for an alarm.
    const signed = await isSigned(profile, request);
    if (signed === false) throw new CliError('proof_not_for_call', { internId, of: 'headers' });
    proof = await askLog(profile, policy, commitment, signed === true);
  } else {
    proof = await usable(options.proof, parseTlogProof);
    if (!(await isEntryOf(proof, commitment)))
      throw new CliError('proof_not_for_call', { internId, of: 'proof' });
  }
  const { origin, size, witnessed } = await trusted(() =>
    verifyTlogProof(proof, proof.extra ?? new Uint8Array(), policy),
  );
  if (options.out !== undefined) await writeText(options.out, renderTlogProof(proof));
  const witnesses = [...witnessed.keys()].sort();
  const by = witnesses.length === 0 ? 'no witness' : witnesses.join(', ');
  profile.terminal.result(
    { logged: true, origin, index: proof.index, size, witnesses },
    `Leaf ${proof.index} of ${origin}, in the tree of ${size} leaves; cosigned by ${by}.`,
  );
}

async function askLog(
  profile: Profile,
  policy: Policy,
  commitment: Uint8Array,
  isSigned: boolean,
): Promise<TlogProof> {
  const { client, head, address } = await openLog(profile, policy);
  return trusted(async () => {
    const [leaf] = (await client.lookup([commitment])).values();
    if (leaf === undefined || leaf.index >= head.size)
      throw new CliError('proof_not_logged', { origin: head.origin, isSigned });
    const path = await client.prove(leaf, head);
    const proof = { extra: leaf.entry, index: leaf.index, path, note: head.note };
    if (!(await isEntryOf(proof, commitment)))
      throw new TlogError('inclusion_invalid', 'the entry belongs to another proof');
    return proof;
  }, address);
}

async function isEntryOf({ extra }: TlogProof, commitment: Uint8Array): Promise<boolean> {
  if (extra === undefined) return false;
  return hasCommitment(await trusted(() => parseEntry(extra)), commitment);
}

async function writeText(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw new CliError('output_unwritable', { file, why: explainSystemError(error) });
  }
}

import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { explainSystemError } from '@ori/faces/system-error';
import { createLogClient, type Remembered, rememberInFile } from '@ori/tlog/client';
import { commitmentV2, hasCommitment, parseEntry } from '@ori/tlog/entry';
import { TlogError } from '@ori/tlog/error';
import { renderVkey } from '@ori/tlog/note';
import { type Policy, parsePolicy } from '@ori/tlog/policy';
import { parseTlogProof, renderTlogProof, type TlogProof, verifyTlogProof } from '@ori/tlog/proof';
import { CliError } from '../core/errors.ts';
import { type Context, checkpointsFolder } from './context.ts';
import { isSigned, type LoggedRequestOptions, readText, takeLoggedRequest } from './log-request.ts';

export interface LogVerifyOptions extends LoggedRequestOptions {
  readonly policy: string;
  /** Every signature by Ed25519 needs one by ML-DSA-44 beside it. */
  readonly requireMlDsa?: boolean;
  /** A `.tlog-proof` file to use instead of asking the log. */
  readonly proof?: string;
  /** Where to write the `.tlog-proof` file. */
  readonly out?: string;
}

/**
 * Verifies that the proof of a call is in the signing log: by asking the log, or offline with a `.tlog-proof` file. Throws
 * CliError `proof_not_for_call` if the proof is for another call than the command line says, `proof_not_logged` if
 * it is in no entry, `log_not_trusted` if the log contradicts itself or the policy; `log_file_unusable`, `not_a_log` and
 * `unreachable` for a policy or an address that cannot be used.
 */
export async function logVerify(context: Context, intern: string, options: LogVerifyOptions): Promise<void> {
  const { requireMlDsa = false } = options;
  const policy = await usable(options.policy, (text) => parsePolicy(text, { requireMlDsa }));
  const request = await takeLoggedRequest(context, intern, options);
  const commitment = commitmentV2(request.signingInput);
  const { internId } = request;
  let proof: TlogProof;
  if (options.proof === undefined) {
    // A call that nobody signed is in no log, which is no reason for an alarm.
    const signed = await isSigned(context, request);
    if (signed === false) throw new CliError('proof_not_for_call', { internId, of: 'headers' });
    proof = await askLog(context, policy, commitment, signed === true);
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
  if (context.json) context.terminal.printJson({ logged: true, origin, index: proof.index, size, witnesses });
  else {
    const by = witnesses.length === 0 ? 'no witness' : witnesses.join(', ');
    context.terminal.print(
      `Leaf ${proof.index} of ${origin}, in the tree of ${size} leaves; cosigned by ${by}.`,
    );
  }
}

async function usable<T>(file: string, parse: (text: string) => T): Promise<T> {
  const text = await readText(file);
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    throw new CliError('log_file_unusable', { file, why: error.message });
  }
}

/** Each checkpoint must extend the last trusted one of this log, which is stored in a file. */
async function askLog(
  context: Context,
  policy: Policy,
  commitment: Uint8Array,
  isSigned: boolean,
): Promise<TlogProof> {
  const remembered = await rememberedOf(context, policy);
  const address = policy.logs.find(({ url }) => url !== undefined)?.url;
  if (address === undefined)
    throw new CliError('usage', { detail: 'The policy file has no address of the log.' });
  const client = createLogClient({ policy, remembered });
  const head = await client.latest().catch((error) => {
    throw error instanceof TlogError ? failureOf(error, address) : error;
  });
  return trusted(async () => {
    const [leaf] = (await client.lookup([commitment])).values();
    if (leaf === undefined || leaf.index >= head.size)
      throw new CliError('proof_not_logged', { origin: head.origin, isSigned });
    const path = await client.prove(leaf, head);
    const proof = { extra: leaf.entry, index: leaf.index, path, note: head.note };
    if (!(await isEntryOf(proof, commitment)))
      throw new TlogError('inclusion_invalid', 'the entry belongs to another proof');
    return proof;
  });
}

async function isEntryOf({ extra }: TlogProof, commitment: Uint8Array): Promise<boolean> {
  if (extra === undefined) return false;
  return hasCommitment(await trusted(() => parseEntry(extra)), commitment);
}

/** A log that is not there, or is no log, is not one that cheats. */
function failureOf(error: TlogError, address: string): CliError {
  const { code, message: why, cause } = error;
  if (code === 'unavailable' && cause !== undefined)
    return new CliError('unreachable', { what: 'the log', address, why: explainSystemError(cause) });
  if (code === 'unavailable' || code === 'malformed') return new CliError('not_a_log', { address, why });
  return new CliError('log_not_trusted', { code, why });
}

async function trusted<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    throw new CliError('log_not_trusted', { code: error.code, why: error.message });
  }
}

async function rememberedOf(context: Context, { logs }: Policy): Promise<Remembered> {
  const keys = logs.map(({ key }) => renderVkey(key)).sort();
  const folder = checkpointsFolder(context);
  const file = join(folder, createHash('sha256').update(keys.join('\n')).digest('hex'));
  const { load, save } = rememberInFile(file);
  return {
    load,
    async save(note) {
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await save(note);
      } catch (error) {
        throw new CliError('output_unwritable', { file, why: explainSystemError(error) });
      }
    },
  };
}

async function writeText(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw new CliError('output_unwritable', { file, why: explainSystemError(error) });
  }
}

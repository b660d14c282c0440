import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type PresentedProof, ProofError, parseProofHeaders } from '@ori/proof';
import { explainSystemError } from '@ori/terminal/system-error';
import { createLogClient, type Remembered, rememberInFile } from '@ori/tlog/client';
import { commitmentOf, hasCommitment, parseEntry } from '@ori/tlog/entry';
import { TlogError } from '@ori/tlog/error';
import { renderVkey } from '@ori/tlog/note';
import { type Policy, parsePolicy, type TrustedCheckpoint } from '@ori/tlog/policy';
import { parseTlogProof, renderTlogProof, type TlogProof, verifyTlogProof } from '@ori/tlog/proof';
import { CliError } from '../core/errors.ts';
import { requireInternId, requirePath } from '../core/proof-request.ts';
import { type DigestOptions, takeDigest } from './body-options.ts';
import { type Context, checkpointsFolder } from './context.ts';

export interface LogVerifyOptions extends DigestOptions {
  /** A file with the headers that `ori sign` printed. */
  readonly headers: string;
  readonly path: string;
  readonly policy: string;
  /** A `.tlog-proof` file to use instead of asking the log. */
  readonly proof?: string;
  /** Where to write the `.tlog-proof` file. */
  readonly out?: string;
}

/** Verifies that the proof of a call is in the signing log: by asking the log, or offline with a `.tlog-proof` file. */
export async function logVerify(context: Context, intern: string, options: LogVerifyOptions): Promise<void> {
  const internId = requireInternId(intern);
  const path = requirePath(options.path);
  const presented = readHeaders(await readText(options.headers));
  const bodySha256 = await takeDigest(context, options);
  const commitment = commitmentOf(presented, { internId, path, bodySha256 });
  if (commitment === undefined) {
    throw new CliError('usage', {
      detail: 'These are the headers of a version 1 proof: only its daemon can check it.',
    });
  }
  const policy = await told(async () => parsePolicy(await readText(options.policy)));
  const proof =
    options.proof === undefined
      ? await told(() => askLog(context, policy, commitment))
      : await told(async () => parseTlogProof(await readText(options.proof ?? '')));
  const checkpoint = await told(async () => verify(proof, commitment, policy));
  if (options.out !== undefined) await writeText(options.out, renderTlogProof(proof));
  const { origin, size, witnessed } = checkpoint;
  const witnesses = [...witnessed.keys()].sort();
  if (context.json) context.terminal.printJson({ logged: true, origin, index: proof.index, size, witnesses });
  else {
    const by = witnesses.length === 0 ? 'no witness' : witnesses.join(', ');
    context.terminal.print(
      `Leaf ${proof.index} of ${origin}, in the tree of ${size} leaves; cosigned by ${by}.`,
    );
  }
}

/** Each checkpoint must extend the last trusted one of this log, which is stored in a file. */
async function askLog(context: Context, policy: Policy, commitment: Uint8Array): Promise<TlogProof> {
  const client = createLogClient({ policy, remembered: await rememberedOf(context, policy) });
  const head = await client.latest();
  const [leaf] = (await client.lookup([commitment])).values();
  if (leaf === undefined || leaf.index >= head.size)
    throw new CliError('proof_not_logged', { origin: head.origin });
  const path = await client.prove(leaf, head);
  return { extra: leaf.entry, index: leaf.index, path, note: head.note };
}

function verify(proof: TlogProof, commitment: Uint8Array, policy: Policy): TrustedCheckpoint {
  const { extra } = proof;
  if (extra === undefined || !hasCommitment(parseEntry(extra), commitment)) {
    throw new TlogError('inclusion_invalid', 'the entry belongs to another proof');
  }
  return verifyTlogProof(proof, extra, policy);
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

/** `name: value` lines, as in curl. */
function readHeaders(text: string): PresentedProof {
  const rawHeaders = text.split(/\r?\n/).flatMap((line) => {
    const colon = line.indexOf(':');
    return colon < 0 ? [] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
  try {
    return parseProofHeaders(rawHeaders);
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    throw new CliError('usage', {
      detail: `The file of --headers does not contain a proof: ${error.message}.`,
    });
  }
}

async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    throw new CliError('log_not_trusted', { code: error.code, why: error.message });
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CliError('usage', { detail: `Cannot read ${file}: ${explainSystemError(error)}.` });
  }
}

async function writeText(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw new CliError('output_unwritable', { file, why: explainSystemError(error) });
  }
}

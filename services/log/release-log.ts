import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { parseCheckpoint, renderCheckpoint } from '@ori/tlog/checkpoint';
import { cosign } from '@ori/tlog/cosignature';
import { createLogKeys, isSeed } from '@ori/tlog/log-keys';
import { inclusionProof, isSameHash, leafHash, nodeHash } from '@ori/tlog/merkle';
import { parseNote, renderNote, signNote } from '@ori/tlog/note';
import { parsePolicy } from '@ori/tlog/policy';
import { parseTlogProof, renderTlogProof, verifyTlogProof } from '@ori/tlog/proof';
import { tilePath } from '@ori/tlog/tile';
import { openTree } from '@ori/tlog/tree';

const USAGE = `usage: release-log.ts record FOLDER --origin NAME --key-file FILE ARTIFACT...
       release-log.ts verify --policy FILE ARTIFACT...`;

/** The entry of an artifact: its SHA-256 and its name, as `sha256sum` prints them. */
async function entryOf(artifact: string): Promise<string> {
  const digest = createHash('sha256')
    .update(await readFile(artifact))
    .digest('hex');
  return `${digest}  ${basename(artifact)}\n`;
}

/**
 * Appends artifacts to the log of releases in a folder, and writes a proof beside each. The folder is a tlog-tiles log
 * whose entries are lines; `entries` has them all, and is what the next record begins with. A name that is there with
 * another digest is refused: a release is not replaced.
 */
async function record(
  folder: string,
  artifacts: readonly string[],
  origin: string,
  seed: string,
): Promise<void> {
  const file = join(folder, 'entries');
  const former = (await readFile(file, 'utf8').catch(() => '')).split(/(?<=\n)/).filter(Boolean);
  const tree = openTree();
  const tiles = former.flatMap((line) => tree.append(Buffer.from(line)));
  const last = await readFile(join(folder, 'checkpoint'), 'utf8').catch(() => undefined);
  const head =
    last === undefined ? { size: 0, root: openTree().root() } : parseCheckpoint(parseNote(last).text);
  if (head.size !== tree.size || !isSameHash(head.root, tree.root())) {
    throw new Error('the entries are not those of the last checkpoint');
  }
  const lines = [...former];
  const named = new Map(former.map((line) => [line.slice(66), line]));
  for (const artifact of artifacts) {
    const line = await entryOf(artifact);
    const other = named.get(line.slice(66));
    if (other === line) continue;
    if (other !== undefined) throw new Error(`${basename(artifact)} was released with another content`);
    lines.push(line);
    tiles.push(...tree.append(Buffer.from(line)));
  }
  for (const tile of [...tiles, ...tree.partial()]) await put(join(folder, tilePath(tile)), tile.bytes);
  await put(file, lines.join(''));

  const keys = createLogKeys(origin, seed);
  const text = renderCheckpoint({ origin, size: tree.size, root: tree.root() });
  const signatures = [signNote(text, origin, keys.log), cosign(text, 0, origin, keys.logMlDsa)];
  const note = renderNote({ text, signatures });
  await put(join(folder, 'checkpoint'), note);

  const leaves = lines.map((line) => leafHash(Buffer.from(line)));
  const subtree = (height: number, index: number): Uint8Array =>
    height === 0
      ? (leaves[index] as Uint8Array)
      : nodeHash(subtree(height - 1, 2 * index), subtree(height - 1, 2 * index + 1));
  for (const artifact of artifacts) {
    const index = lines.indexOf(await entryOf(artifact));
    const path = inclusionProof(index, lines.length, subtree);
    await put(`${artifact}.tlog-proof`, renderTlogProof({ extra: undefined, index, path, note }));
  }
  process.stdout.write(`${lines.length} artifacts, ${lines.length - former.length} of them new\n`);
}

/** @throws TlogError for an artifact that is not in the log as it is here */
async function verify(artifacts: readonly string[], policyText: string): Promise<void> {
  const policy = parsePolicy(policyText, { requireMlDsa: true });
  for (const artifact of artifacts) {
    const proof = parseTlogProof(await readFile(`${artifact}.tlog-proof`, 'utf8'));
    const { origin, size } = verifyTlogProof(proof, Buffer.from(await entryOf(artifact)), policy);
    process.stdout.write(`${basename(artifact)}: entry ${proof.index} of ${size} in ${origin}\n`);
  }
}

async function put(file: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}

async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    options: { origin: text, 'key-file': text, policy: text },
    allowPositionals: true,
  });
  const [what, ...rest] = positionals;
  const { origin, policy } = values;
  if (what === 'verify' && policy !== undefined && rest.length > 0) {
    return verify(rest, await readFile(policy, 'utf8'));
  }
  const [folder, ...artifacts] = rest;
  if (what !== 'record' || folder === undefined || artifacts.length === 0 || !origin || !values['key-file']) {
    throw new Error(USAGE);
  }
  const seed = (await readFile(values['key-file'], 'utf8')).trim();
  if (!isSeed(seed)) throw new Error('the key file does not contain 32 bytes in base64');
  const files = artifacts.filter((file) => !file.endsWith('.tlog-proof'));
  await record(folder, files, origin, seed);
}

await main().catch((error: Error) => {
  process.stderr.write(`release-log: ${error.message}\n`);
  process.exitCode = 1;
});

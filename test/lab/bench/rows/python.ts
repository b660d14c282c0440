import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pythonWith } from '../../../conformance/ports/open-ports.ts';
import type { Bench, Row } from '../row.ts';

const PYTHON = pythonWith('cryptography');
const VERIFY = join(import.meta.dirname, '../sides/verify.py');

/** One verification by ori_proof against the least that it can do: one by `cryptography`, and the digest of the body. */
export const pythonRow: Row = {
  name: 'python',
  missing: () => (PYTHON === undefined ? 'no python3 with cryptography' : undefined),
  run: async (bench) => [await measure(bench, 2, 1.2), await measure(bench, 100_000, 1.1)],
};

async function measure(bench: Bench, bytes: number, atMost: number) {
  const [ours, least]: [number[], number[]] = [[], []];
  for (let round = 1; round <= bench.rounds; round++) {
    bench.progress(`round ${round} of ${bench.rounds}: ${bytes} bytes`);
    const { stdout } = await promisify(execFile)(PYTHON ?? '', [VERIFY, String(bytes), '1000']);
    const [each = 0, raw = 0, digest = 0] = JSON.parse(stdout) as number[];
    ours.push(each);
    least.push(raw + digest);
  }
  return {
    title: `a verification in Python, ${bytes} bytes`,
    unit: 'CPU µs',
    ours: { name: 'ori_proof', rounds: ours },
    theirs: { name: 'Ed25519 and SHA-256', rounds: least },
    mark: { atMost },
  };
}

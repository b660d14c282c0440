import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Bench, Finding, Row } from '../../lab/bench/row.ts';
import { pythonWith } from '../ports/open-ports.ts';
import { installPython } from '../ports/python-environment.ts';

const PYTHON = pythonWith('cryptography');
const VERIFY = join(import.meta.dirname, '../../lab/bench/sides/verify.py');
const FASTAPI = join(import.meta.dirname, './fastapi_load.py');

/** One verification by ori_proof against the least that it can do: one by `cryptography`, and the digest of the body. */
export const pythonRow: Row = {
  name: 'python',
  missing: () => (PYTHON === undefined ? 'no python3 with cryptography' : undefined),
  run: async (bench) => [
    await measure(bench, 2, 1.2),
    await measure(bench, 100_000, 1.1),
    ...(await measureFastapi(bench)),
  ],
};

/** uvicorn has one thread: its requests a second are what the CPU of one leaves. */
async function measureFastapi(bench: Bench): Promise<Finding[]> {
  const python = installPython();
  if (python === undefined) return [];
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let round = 1; round <= bench.rounds; round++) {
    bench.progress(`round ${round} of ${bench.rounds}: FastAPI`);
    const { stdout } = await promisify(execFile)(python, [FASTAPI, bench.isQuick ? '20' : '1000']);
    const [proven = 0, raw = 0] = JSON.parse(stdout) as number[];
    ours.push(1e6 / proven);
    theirs.push(1e6 / raw);
  }
  return [
    {
      title: 'through FastAPI and uvicorn',
      unit: 'requests/s',
      ours: { name: 'with a proof', rounds: ours },
      theirs: { name: 'with one raw verification', rounds: theirs },
      mark: { atLeast: 0.8 },
    },
  ];
}

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

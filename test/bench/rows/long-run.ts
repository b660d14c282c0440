import { openMemoryProcess, residentBytes } from '../memory-process.ts';
import type { Bench, Finding, Row } from '../row.ts';
import { warmStage } from '../sign-stage.ts';

const MIB = 1024 * 1024;

/** What a process has grown to after a million proofs, against what it had after the first hundred thousand. */
export const longRunRow: Row = {
  name: 'long-run',
  async run(bench) {
    const [first, last] = bench.isQuick ? [500, 2000] : [100_000, 1_000_000];
    const finding = (name: string, { early, late }: Grown): Finding => ({
      title: `resident memory after ${last} proofs`,
      unit: 'MiB',
      ours: { name, rounds: late },
      theirs: { name: `after ${first}`, rounds: early },
      mark: { atMost: 1.1 },
    });
    return [
      finding('signer', await growSigner(bench, first, last)),
      finding('verifier', await growVerifier(bench, first, last)),
    ];
  },
};

/** Of the last rounds of a phase: memory goes up and down with every collection. */
interface Grown {
  readonly early: number[];
  readonly late: number[];
}

/** The signer as it ships, on a real Redis, loaded through its route. */
async function growSigner(bench: Bench, first: number, last: number): Promise<Grown> {
  const { ours, load } = await warmStage(bench);
  let done = 0;
  return grow(bench, { first, last, pid: ours.pid }, async (proofs) => {
    for (const until = done + proofs; done < until; ) {
      const left = (until - done) / 2000;
      done += (await load(ours, { ...bench.load, seconds: Math.min(5, Math.max(0.2, left)) })).answers;
    }
  });
}

/** Signing and verifying in one process, with a memory store. */
async function growVerifier(bench: Bench, first: number, last: number): Promise<Grown> {
  await using process = openMemoryProcess('proofs');
  return await grow(bench, { first, last, pid: process.pid }, async (proofs) => {
    await process.ask({ proofs });
  });
}

interface Way {
  readonly first: number;
  readonly last: number;
  readonly pid: number;
}

async function grow(
  bench: Bench,
  { first, last, pid }: Way,
  make: (proofs: number) => Promise<void>,
): Promise<Grown> {
  const samples = async (from: number, to: number) => {
    const looks: number[] = [];
    for (let step = 1; step <= SAMPLES; step++) {
      bench.progress(`${Math.round(from + ((to - from) * step) / SAMPLES)} of ${last} proofs`);
      await make((to - from) / SAMPLES);
      looks.push(residentBytes(pid) / MIB);
    }
    return looks;
  };
  await make(first * 0.8);
  const early = await samples(first * 0.8, first);
  await make(last * 0.9 - first);
  return { early, late: await samples(last * 0.9, last) };
}

const SAMPLES = 5;

import { residentBytes } from '../../../env/peak-memory.ts';
import { startWorker } from '../processes.ts';
import type { Bench, Finding, Row } from '../row.ts';
import { warmStage } from '../sign-stage.ts';

const MIB = 1024 * 1024;

/** Resident memory after a million proofs, compared with that after the first hundred thousand. */
export const longRunRow: Row = {
  name: 'long-run',
  async run(bench) {
    const way = bench.isQuick
      ? { step: 100, first: 500, last: 2000 }
      : { step: 10_000, first: 100_000, last: 1_000_000 };
    const finding = (name: string, looks: readonly number[]): Finding => {
      const at = (proofs: number) => looks.slice(proofs / way.step - LOOKS, proofs / way.step);
      return {
        title: `resident memory after ${way.last} proofs`,
        unit: 'MiB',
        ours: { name, rounds: at(way.last) },
        theirs: { name: `after ${way.first}`, rounds: at(way.first) },
        mark: { atMost: 1.1 },
      };
    };
    return [
      finding('signer', await growSigner(bench, way)),
      finding('verifier', await growVerifier(bench, way)),
    ];
  },
};

/** Samples around each moment, because memory varies with every garbage collection. */
const LOOKS = 5;

interface Way {
  /** Proofs between two samples, constant throughout: what was collected depends on the interval. */
  readonly step: number;
  readonly first: number;
  readonly last: number;
}

/** The signer as it ships, on a real Redis, loaded over HTTP. */
async function growSigner(bench: Bench, way: Way): Promise<number[]> {
  const { ours, load } = await warmStage(bench);
  let done = 0;
  let perSecond = 1000;
  return grow(bench, way, ours.pid, async (until) => {
    while (done < until) {
      const seconds = Math.max(0.2, (until - done) / perSecond);
      const report = await load(ours, { ...bench.load, seconds });
      done += report.answers;
      perSecond = report.perSecond;
    }
  });
}

/** Signing and verifying in one process, with a memory store. */
async function growVerifier(bench: Bench, way: Way): Promise<number[]> {
  await using worker = startWorker<{ proofs: number }, object>('memory/proofs.ts', 'servers');
  // Awaited here, before the process is disposed of.
  return await grow(bench, way, worker.pid, async () => {
    await worker.ask({ proofs: way.step });
  });
}

/** Resident memory in MiB after each step. */
async function grow(
  bench: Bench,
  { step, last }: Way,
  pid: number | undefined,
  makeUntil: (proofs: number) => Promise<void>,
): Promise<number[]> {
  const looks: number[] = [];
  for (let proofs = step; proofs <= last; proofs += step) {
    if ((proofs * 20) % last === 0) bench.progress(`${proofs} of ${last} proofs`);
    await makeUntil(proofs);
    looks.push(residentBytes(pid) / MIB);
  }
  return looks;
}

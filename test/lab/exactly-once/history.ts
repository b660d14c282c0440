import { closeSync, openSync, readSync, writeSync } from 'node:fs';

/**
 * One presentation of a proof and its verdict. `fresh`: presented for the first time by its signer; `ahead`: the same,
 * stamped as far ahead as the tolerance allows; `replay`: a recorded copy; `stripped`: a copy as version 1; `forged`: another signature.
 */
export interface Presentation {
  readonly kind: 'fresh' | 'ahead' | 'replay' | 'stripped' | 'forged';
  /** Identifies the proof, not the presentation. */
  readonly id: string;
  /** `accepted` or the refusal code. */
  readonly verdict: string;
  /** True time in Unix milliseconds, independent of the verifier's clock. */
  readonly sentMs: number;
  readonly answeredMs: number;
}

export interface History {
  /** When this returns, an acceptance has been passed to the kernel, so it survives SIGKILL. */
  record(presentation: Presentation): void;
  flush(): void;
}

const BUFFERED_MAX = 200;

/** Writes one process's history to its own file. Refusals are buffered, because losing one hides no violation. */
export function openHistory(path: string): History {
  const file = openSync(path, 'a');
  let waiting: string[] = [];
  const flush = (): void => {
    if (waiting.length === 0) return;
    writeSync(file, waiting.join(''));
    waiting = [];
  };
  return {
    record({ kind, id, verdict, sentMs, answeredMs }) {
      waiting.push(`${kind} ${id} ${verdict} ${sentMs} ${answeredMs}\n`);
      if (verdict === 'accepted' || waiting.length >= BUFFERED_MAX) flush();
    },
    flush,
  };
}

/** Reads what was appended to a history since the last call. An incomplete line is left for the next call. */
export function followHistory(path: string) {
  const file = openSync(path, 'a+');
  const chunk = Buffer.alloc(1 << 18);
  let position = 0;
  let rest = '';
  return {
    read(): Presentation[] {
      const lines: string[] = [];
      for (;;) {
        const bytes = readSync(file, chunk, 0, chunk.length, position);
        if (bytes === 0) break;
        position += bytes;
        const parts = (rest + chunk.toString('latin1', 0, bytes)).split('\n');
        rest = parts.pop() ?? '';
        for (const part of parts) lines.push(part);
      }
      return lines.map(parse);
    },
    close: () => closeSync(file),
  };
}

function parse(line: string): Presentation {
  const [kind = '', id = '', verdict = '', sentMs, answeredMs] = line.split(' ');
  return {
    kind: kind as Presentation['kind'],
    id,
    verdict,
    sentMs: Number(sentMs),
    answeredMs: Number(answeredMs),
  };
}

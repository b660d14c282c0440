import { createBodyBuffer } from '../adapters/body-buffer.ts';
import type { CallEnd } from '../replay/replay-store.ts';

/** Records one answer while a handler gives it. */
export interface Recorder {
  /** Whether nothing more is recorded: the answer is complete, lost or too large. */
  readonly isOver: boolean;
  /** The names are in lower case. */
  begin(status: number, headers: Readonly<Record<string, string>>): void;
  add(chunk: Uint8Array): void;
  end(): void;
  /** The handler gave up. */
  lose(): void;
}

/** Headers of one connection or of one moment (RFC 9110, section 7.6.1), and secrets that were for another connection. */
const NOT_KEPT = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const NO_STORE = /(?:^|,)[ \t]*no-store[ \t]*(?:,|$)/i;

/** Calls `settle` once, with what there is to keep. */
export function createRecorder(
  { bytesMax, noStore }: { bytesMax: number; noStore: boolean },
  settle: (end: CallEnd) => void,
): Recorder {
  const body = createBodyBuffer();
  let status = 200;
  let headers: Record<string, string> = {};
  let isOver = false;

  function over(end: CallEnd): void {
    if (isOver) return;
    isOver = true;
    settle(end);
  }

  return {
    get isOver() {
      return isOver;
    },
    begin(given, all) {
      status = given;
      headers = headersToKeep(all);
      if (!noStore && NO_STORE.test(headers['cache-control'] ?? '')) over('lost');
    },
    add(chunk) {
      if (isOver) return;
      if (body.length + chunk.byteLength > bytesMax) over('too_large');
      else body.add(chunk);
    },
    end() {
      if (!isOver) over({ status, headers, body: body.bytes() });
    },
    lose: () => over('lost'),
  };
}

function headersToKeep(all: Readonly<Record<string, string>>): Record<string, string> {
  const named = (all['connection'] ?? '').split(',').map((name) => name.trim().toLowerCase());
  const isKept = ([name]: [string, string]) => !NOT_KEPT.has(name) && !named.includes(name);
  return Object.fromEntries(Object.entries(all).filter(isKept));
}

const NEWLINE = 0x0a;

/** The complete lines of `bytes` without empty ones, and the number of bytes up to the last newline. */
export function splitLines(bytes: Buffer): { lines: Buffer[]; bytes: number } {
  const lines: Buffer[] = [];
  let at = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, at)) {
    if (end > at) lines.push(bytes.subarray(at, end));
    at = end + 1;
  }
  return { lines, bytes: at };
}

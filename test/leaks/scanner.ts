/** A planted secret and the place where it was found. */
export interface Leak {
  readonly canary: string;
  readonly form: string;
  readonly place: string;
  /** An excerpt of the line around the finding. */
  readonly line: string;
}

/** The length of the searched pieces of a secret: long enough to be unique, short enough to find half a secret. */
const PIECE_BYTES = 12;

/**
 * Searches text for secrets: unchanged, and in every form in which a careless program may write them, at any offset
 * within longer text. It searches for the first, middle and last bytes, so a third of a secret is also found.
 */
export function createScanner(canaries: Readonly<Record<string, string | Uint8Array>>) {
  const needles = Object.entries(canaries).flatMap(([canary, secret]) => {
    const bytes = Buffer.from(secret);
    if (bytes.length < PIECE_BYTES)
      throw new Error(`the canary ${canary} is too short and could occur by chance`);
    return piecesOf(bytes).flatMap((piece) => formsOf(piece).map(([form, text]) => ({ canary, form, text })));
  });
  // By their first characters, so that one pass over a text finds all of them: no form of a piece is shorter.
  const byStart = Map.groupBy(needles, ({ text }) => text.slice(0, PIECE_BYTES));
  return {
    scan(place: string, text: string): Leak[] {
      const found: Leak[] = [];
      for (let at = 0; at + PIECE_BYTES <= text.length; at += 1) {
        for (const needle of byStart.get(text.slice(at, at + PIECE_BYTES)) ?? []) {
          if (!text.startsWith(needle.text, at)) continue;
          const line = text.slice(Math.max(0, at - 80), at + needle.text.length + 80);
          found.push({ canary: needle.canary, form: needle.form, place, line });
        }
      }
      return found;
    },
  };
}

function piecesOf(bytes: Buffer): Buffer[] {
  const last = bytes.length - PIECE_BYTES;
  const starts = [...new Set([0, Math.floor(last / 2), last])];
  return starts.map((start) => bytes.subarray(start, start + PIECE_BYTES));
}

/** The forms of a piece, by name. */
function formsOf(piece: Buffer): [string, string][] {
  const hex = piece.toString('hex');
  const alignments = [0, 1, 2].flatMap((offset): [string, string][] => [
    [`base64 at ${offset}`, alignedBase64(piece, offset)],
    [`base64url at ${offset}`, alignedBase64(piece, offset).replaceAll('+', '-').replaceAll('/', '_')],
  ]);
  return [
    ['text', piece.toString('latin1')],
    ['percent', encodeURIComponent(piece.toString('latin1'))],
    ['json', JSON.stringify(piece.toString('latin1')).slice(1, -1)],
    ...[hex, hex.toUpperCase()].flatMap((digits): [string, string][] => [
      ['hex', digits],
      ['hex, spaced', digits.replace(/..(?=.)/g, '$& ')],
    ]),
    ['numbers', [...piece].join(',')],
    ['numbers, spaced', [...piece].join(', ')],
    ...alignments,
  ];
}

/** The part of the piece's base64 that does not depend on its neighbours, `offset` bytes into a group. */
function alignedBase64(piece: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), piece])
    .toString('base64')
    .replace(/=+$/, '');
  const whole = Math.floor(((offset + piece.length) * 8) / 6);
  return text.slice(Math.ceil((offset * 8) / 6), whole);
}

// Text that may contain a brace that does not end the block: comments, strings, and both in long brackets. Each
// alternative consumes at least one character, and an unclosed one runs to the end of its line or of the text.
const PIECE =
  /--\[(=*)\[[\s\S]*?(?:\]\1\]|$)|--[^\n]*|\[(=*)\[[\s\S]*?(?:\]\2\]|$)|"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?|[{}]/g;

/** The position of the brace that closes a Lua block that begins before `from`; undefined if there is none. */
export function endOfLua(text: string, from: number): number | undefined {
  let depth = 1;
  PIECE.lastIndex = from;
  for (let piece = PIECE.exec(text); piece !== null; piece = PIECE.exec(text)) {
    if (piece[0] === '{') depth += 1;
    else if (piece[0] === '}') depth -= 1;
    if (depth === 0) return piece.index;
  }
  return undefined;
}

export function withoutComments(code: string): string {
  return code.replace(PIECE, (piece) => (piece.startsWith('--') ? ' ' : piece));
}

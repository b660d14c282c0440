import { setImmediate as turnOfTheLoop } from 'node:timers/promises';

/** Characters per turn of the event loop: well below a millisecond. */
const PIECE = 65_536;

/**
 * Serializes an object in pieces, its lists item by item, and yields to the event loop between pieces, so that a large page does
 * not delay other requests.
 */
export async function jsonPieces(value: object): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  let text = '';
  async function add(more: string): Promise<void> {
    text += more;
    if (text.length < PIECE) return;
    pieces.push(Buffer.from(text));
    text = '';
    await turnOfTheLoop();
  }

  let isFirst = true;
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    text += `${isFirst ? '{' : ','}${JSON.stringify(name)}:`;
    isFirst = false;
    if (!Array.isArray(member)) await add(JSON.stringify(member));
    else {
      for (const [index, item] of member.entries()) {
        await add(`${index === 0 ? '[' : ','}${JSON.stringify(item)}`);
      }
      text += member.length === 0 ? '[]' : ']';
    }
  }
  pieces.push(Buffer.from(`${isFirst ? '{' : text}}`));
  return pieces;
}

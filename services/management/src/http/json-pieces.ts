import { setImmediate as turnOfTheLoop } from 'node:timers/promises';

/** Characters that are made before others have a turn: well below a millisecond. */
const PIECE = 65_536;

/**
 * The JSON text of an object in pieces. Lists in it are written item by item, and the event loop goes on between pieces: a page of
 * many large records must not hold up the requests of others.
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

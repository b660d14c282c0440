import { readFileSync } from 'node:fs';

/** The documents of the protocol, in the order in which they are read. */
export const DOCUMENTS = ['SPEC.md', 'KEY-SETS.md', 'REPLAY-STORES.md', 'ROOTED-KEY-SETS.md'] as const;

const KEYWORD = /\b(?:MUST|SHOULD|MAY|REQUIRED|SHALL|RECOMMENDED|OPTIONAL)\b/;

/**
 * Id -> text of each normative sentence, in its order. Throws Error for one without an id, an id without a sentence, and ids of one
 * letter that are not numbered in their order.
 */
export function sentencesOfSpec(): Map<string, string> {
  const sentences = new Map<string, string>();
  const last = new Map<string, number>();
  for (const document of DOCUMENTS) {
    for (const [id, text] of sentencesOf(readDocument(document))) {
      const number = (last.get(id.charAt(0)) ?? 0) + 1;
      if (id !== `${id.charAt(0)}${number}`)
        throw new Error(`${document}: ${id} is not ${number} of its letter`);
      last.set(id.charAt(0), number);
      sentences.set(id, text);
    }
  }
  return sentences;
}

export function readDocument(name: string): string {
  return readFileSync(new URL(`../../libs/public/proof/${name}`, import.meta.url), 'utf8');
}

function* sentencesOf(document: string): Generator<readonly [id: string, text: string]> {
  const normative = document.slice(document.indexOf('\n## ')).replaceAll(/```.*?```/gs, '');
  for (const paragraph of normative.split(/\n(?=\n|- |\d+\. )/)) {
    const [before = '', ...rest] = paragraph.replaceAll(/\s+/g, ' ').split(/\[([A-Z]\d+)\] /);
    if (KEYWORD.test(before)) throw new Error(`a sentence without an id: ${before}`);
    for (let index = 0; index < rest.length; index += 2) {
      const [id = '', text = ''] = [rest[index], rest[index + 1]];
      const [first = '', ...others] = text.split(/(?<=[.:]\)?) (?=[A-Z`])/);
      if (!KEYWORD.test(first)) throw new Error(`${id} contains no MUST, SHOULD or MAY: ${first}`);
      const stray = others.find((other) => KEYWORD.test(other));
      if (stray !== undefined) throw new Error(`a sentence without an id, after ${id}: ${stray}`);
      yield [id, first.trim()];
    }
  }
}

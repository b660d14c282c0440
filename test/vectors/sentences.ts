import { readFileSync } from 'node:fs';

const KEYWORD = /\b(?:MUST|SHOULD|MAY|REQUIRED|SHALL|RECOMMENDED|OPTIONAL)\b/;

/** Id -> text of each normative sentence of SPEC.md, in its order. Throws Error for one without an id, or an id without a sentence. */
export function sentencesOfSpec(): Map<string, string> {
  const spec = readFileSync(new URL('../../libs/public/proof/SPEC.md', import.meta.url), 'utf8');
  const normative = spec.slice(spec.indexOf('\n## 1.')).replaceAll(/```.*?```/gs, '');
  const sentences = new Map<string, string>();
  for (const paragraph of normative.split(/\n(?=\n|- |\d+\. )/)) {
    const [before = '', ...rest] = paragraph.replaceAll(/\s+/g, ' ').split(/\[([A-Z]\d+)\] /);
    if (KEYWORD.test(before)) throw new Error(`a sentence without an id: ${before}`);
    for (let index = 0; index < rest.length; index += 2) {
      const [id = '', text = ''] = [rest[index], rest[index + 1]];
      const [first = '', ...others] = text.split(/(?<=[.:]\)?) (?=[A-Z`])/);
      if (!KEYWORD.test(first)) throw new Error(`${id} contains no MUST, SHOULD or MAY: ${first}`);
      const stray = others.find((other) => KEYWORD.test(other));
      if (stray !== undefined) throw new Error(`a sentence without an id, after ${id}: ${stray}`);
      if (sentences.has(id)) throw new Error(`two sentences have the id ${id}`);
      sentences.set(id, first.trim());
    }
  }
  return sentences;
}

import { readFileSync } from 'node:fs';

/** A normative sentence of the protocol, by its id. */
export interface Sentence {
  readonly id: string;
  readonly text: string;
}

const DOCUMENTS = ['SPEC.md', 'REPLAY-STORES.md'].map(
  (name) => new URL(`../${name}`, import.meta.resolve('@ori/proof')),
);

/** A sentence ends where the next one begins, or with its paragraph. */
const SENTENCE = /\[([A-Z]\d+)\] ([\s\S]+?)(?=\s+(?:- )?\[[A-Z]\d+\] |\n\n)/g;

const SENTENCES: readonly Sentence[] = DOCUMENTS.flatMap((document) => [
  ...readFileSync(document, 'utf8').matchAll(SENTENCE),
]).map(([, id = '', text = '']) => ({ id, text: text.replace(/\s+/g, ' ') }));

/** The sentence that demands a refusal: the first one that names its code. Undefined for codes of others. */
export function sentenceOf(code: string): Sentence | undefined {
  return SENTENCES.find(({ text }) => text.includes(`\`${code}\``));
}

import { readFileSync } from 'node:fs';

interface Vector {
  title: string;
  baseUrl: string;
  internId: string;
  roots: object[];
  answers: {
    bodyBase64?: string;
    statement?: string;
    now: number;
    expect: string;
    or?: string;
    until?: number;
    answerKeys?: string[] | string;
    answerKeysUntil?: number;
  }[];
}

const file = new URL('../../../../test/vectors/rooted-sets.json', import.meta.url);

/** What a reader of key sets under a root must say of each answer. */
export const { sets }: { sets: Vector[] } = JSON.parse(readFileSync(file, 'utf8'));

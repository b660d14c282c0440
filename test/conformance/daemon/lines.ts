import { ELSEWHERE } from '../../vectors/elsewhere.ts';
import { sentencesOfSpec } from '../../vectors/sentences.ts';
import type { Outcome } from './suite.ts';

/** The result of a sentence of SPEC.md, or what else covers it. */
export interface Line {
  readonly id: string;
  /** `advice`: it failed, and the sentence is a SHOULD. `not run`: this suite does not try it. */
  readonly state: 'ok' | 'FAILED' | 'advice' | 'unseen' | 'not run';
  readonly detail: string;
}

/** Whether the sentence is a MUST. */
export const isRequired = (id: string): boolean => /\bMUST\b/.test(sentencesOfSpec().get(id) ?? 'MUST');

/** Sentences that only a signer or a client can meet are left out. */
export function linesOf(outcomes: readonly Outcome[]): Line[] {
  return [...sentencesOfSpec()]
    .filter(([id]) => !/^[SC]/.test(id) && ELSEWHERE[id]?.startsWith('about ') !== true)
    .map(([id, text]) => {
      const own = outcomes.filter(({ sentence }) => sentence === id);
      const shown = text.replaceAll('`', '').slice(0, 80);
      if (own.length === 0) {
        const why = ELSEWHERE[id];
        return { id, state: 'not run', detail: why ?? `by vectors: ${shown}` };
      }
      const bad = own.filter(({ difference }) => difference !== undefined);
      const failed = isRequired(id) ? 'FAILED' : 'advice';
      const state = bad.length === 0 ? 'ok' : bad.every(({ isUnseen }) => isUnseen) ? 'unseen' : failed;
      const titles = bad.map(({ title }) => title).join('; ');
      return { id, state, detail: bad.length === 0 ? shown : titles };
    });
}

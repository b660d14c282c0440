import { ELSEWHERE } from '../../vectors/elsewhere.ts';
import { sentencesOfSpec } from '../../vectors/sentences.ts';
import type { Outcome } from './suite.ts';

/** The result of a sentence of SPEC.md, or what else covers it. */
export interface Line {
  readonly id: string;
  readonly state: 'ok' | 'FAILED' | 'unseen' | 'vectors' | 'tests';
  readonly detail: string;
}

/** Sentences that only a signer or a client can meet are left out. */
export function linesOf(outcomes: readonly Outcome[]): Line[] {
  return [...sentencesOfSpec()]
    .filter(([id]) => !/^[SC]/.test(id) && ELSEWHERE[id]?.startsWith('about ') !== true)
    .map(([id, text]) => {
      const own = outcomes.filter(({ sentence }) => sentence === id);
      const shown = text.replaceAll('`', '').slice(0, 80);
      if (own.length === 0) {
        const why = ELSEWHERE[id];
        return { id, state: why === undefined ? 'vectors' : 'tests', detail: why ?? shown };
      }
      const bad = own.filter(({ difference }) => difference !== undefined);
      const state = bad.length === 0 ? 'ok' : bad.every(({ isUnseen }) => isUnseen) ? 'unseen' : 'FAILED';
      const titles = bad.map(({ title }) => title).join('; ');
      return { id, state, detail: bad.length === 0 ? shown : titles };
    });
}

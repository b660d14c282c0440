import { sentencesOfSpec } from '../../vectors/sentences.ts';
import { readScenarios } from '../protocol.ts';
import type { Outcome } from './suite.ts';

/** The result of a sentence of SPEC.md, or what else covers it. */
export interface Line {
  readonly id: string;
  readonly state: 'ok' | 'FAILED' | 'unseen' | 'vectors' | 'tests';
  readonly detail: string;
}

/** Sentences for signers and clients are left out. */
export function linesOf(outcomes: readonly Outcome[]): Line[] {
  const scenarios = readScenarios();
  return [...sentencesOfSpec()]
    .filter(([id]) => !/^[SC]/.test(id))
    .map(([id, text]) => {
      const own = outcomes.filter(({ sentence }) => sentence === id);
      const shown = text.replaceAll('`', '').slice(0, 80);
      const vectors = scenarios.filter(({ sentences }) => sentences.includes(id)).length;
      if (own.length === 0) return { id, state: vectors > 0 ? 'vectors' : 'tests', detail: shown };
      const bad = own.filter(({ difference }) => difference !== undefined);
      const state = bad.length === 0 ? 'ok' : bad.every(({ isUnseen }) => isUnseen) ? 'unseen' : 'FAILED';
      const titles = bad.map(({ title }) => title).join('; ');
      return { id, state, detail: bad.length === 0 ? shown : titles };
    });
}

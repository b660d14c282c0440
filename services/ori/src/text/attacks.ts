import type { AttackName, AttackResult } from '../core/attacks.ts';

/** What was presented to the daemon, after "a call ". */
const WORDS: Readonly<Record<AttackName, string>> = {
  no_proof: 'without a proof',
  body_changed: 'with one byte of its body changed',
  body_extended: 'with one byte added to its body',
  path_changed: 'with a proof for another path',
  query_added: 'with a query',
  user_changed: 'in the name of another person',
  time_changed: 'with a proof from 700 s before',
  version_1: 'with a version 1 proof, taken from a call to another path',
  repeated: 'that was made before',
};

/** What makes a daemon accept it, and what to do. */
const CAUSES: Readonly<Record<AttackName, string>> = {
  no_proof: 'The handler runs without a proof. Put requireProof(verifier, …) before it.',
  body_changed: 'The proof is not compared with the body as it was received.',
  body_extended:
    'The proof is compared with a body that was parsed and written again. Mount requireProof before any body parser.',
  path_changed: 'The proof is not compared with the path as it was received.',
  query_added: 'A query is not covered by the proof, so everyone on the way can add one. Refuse it.',
  user_changed: 'The user is taken from a header that was not verified.',
  time_changed: 'The time of a proof is not checked before its signature, or not at all.',
  version_1: 'Version 1 covers neither method nor path. Remove acceptV1 from the options of the verifier.',
  repeated:
    'Spent proofs are not remembered, or not by all processes of the daemon. Share a store in Redis or PostgreSQL.',
};

export const tellAttack = (attack: AttackName): string => `a call ${WORDS[attack]}`;
export const tellCause = (attack: AttackName): string => CAUSES[attack];

/** The lines of a report: what was accepted first, then the rest in the order in which it was sent. */
export function tellAttacks(results: readonly AttackResult[]): string[] {
  const order = ['accepted', 'other', 'refused'] as const;
  return order.flatMap((outcome) =>
    results
      .filter((result) => result.outcome === outcome)
      .map(({ attack, status, code, expected }) => {
        const answered = `${status}${code === null ? '' : ` ${code}`}`;
        const verdict = { accepted: 'ACCEPTED', other: 'UNCLEAR ', refused: 'refused ' }[outcome];
        const wanted = outcome === 'other' ? `, expected 401 ${expected}` : '';
        return `  ${verdict}  ${tellAttack(attack)}: ${answered}${wanted}`;
      }),
  );
}

/**
 * Why neither a vector nor a check of a daemon shows a sentence. Each is cited by a test of the product (`// SPEC.md K14.`), and
 * vectors.test.ts fails for a sentence that nothing shows, and for a line here that is not needed.
 */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  H6: 'vectors give the raw header list, which such a verifier never gets',
  K10: 'what an operator is told is not in an answer',
  K14: 'the suite serves its key sets from loopback, which is permitted',
  K21: 'about signers: shown by our own',
  K22: 'about signers: shown by our own',
  K23: 'about signers: shown by our own',
  K24: 'about signers: shown by our own',
  K25: 'about signers: shown by our own',
  N10: 'the store of a port is in its own memory, and always answers',
  N11: 'the store of a port is in its own memory, and no answer is lost',
  N12: 'no port shares a store with a signer',
  N13: 'no port shares a store with a signer',
  R14: 'about signers: shown by our own',
  R15: 'about signers: shown by our own',
  R16: 'about signers: shown by our own',
  S4: 'about the random source of a signer: shown by our own',
  S6: 'about the HTTP answer of a signer: shown by our own',
  C1: 'about clients: shown by our own',
  C2: 'about clients: shown by our own',
  C3: 'about clients: shown by our own',
  C4: 'about clients: shown by our own',
  C5: 'about clients: shown by our own',
  C6: 'about clients: shown by our own',
  C7: 'about clients: shown by our own',
};

/**
 * Changes that are no bugs: no request, key set or configuration can tell them from the sound verifier. A part of the line, the
 * replacement where only one of them is meant, and why.
 */
export const EQUIVALENT: readonly (readonly [
  file: string,
  line: string,
  to: string | undefined,
  why: string,
])[] = [
  [
    'oriproof.py',
    'LOW = ["0" * 64',
    '1',
    'an engine that encodes R again refuses all of the 14 but the identity',
  ],
  ['oriproof.py', 'bytes([bytes.fromhex(h)[31]', '30', 'the same: the identity stays listed'],
  ['oriproof.py', 'encoded[31] >> 7', undefined, 'a point and its negative have the same order'],
  ['oriproof.py', 'x = x if x & 1 == sign', undefined, 'the same'],
  ['oriproof.py', 'if y >= P or encoded in', ' > ', 'y = p is among the small-order encodings'],
  ['oriproof.py', '(P - 5) // 8', '4', 'the same quotient'],
  ['oriproof.py', 'pow(2, (P - 1) // 4, P)', undefined, 'the same quotient'],
  ['oriproof.py', 'for bit in bin(L)[2:]', '1', 'one more doubling of the identity'],
  ['oriproof.py', 'raise ValueError("', undefined, 'the words of an error'],
  ['oriproof.py', 'jwk.get("nbf", 0)', '1', 'no store was running in 1970'],
  ['oriproof.py', 'bound = jwk.get(name, 0)', '1', 'an absent bound is none'],
  ['oriproof.py', '"little") >= L', undefined, 'OpenSSL refuses S not below L as well'],
  ['oriproof.py', 'self.retention, self.highest', '1', 'a verifier attaches before the first spend'],
  ['oriproof.py', 'while self.by_age', ' < ', 'what is as old is refused for its age'],
  ['oriproof.py', 'def current(self, renew=False)', undefined, 'always given'],
  ['oriproof.py', 'for renew in (False, True)', undefined, 'fetching is shown by tests, not by verdicts'],
  ['oriproof.py', 'if VERSION_2[0] not in proof', '1', 'the two come together here'],
];

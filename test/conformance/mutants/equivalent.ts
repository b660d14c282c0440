/**
 * Changes that are not bugs: no request, key set or configuration distinguishes them from the original port. Each
 * has a part of the line, the replacement if only one is meant, and the reason.
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
    'an engine that re-encodes R refuses all of the 14 except the identity',
  ],
  ['oriproof.py', 'bytes([bytes.fromhex(h)[31]', '30', 'the same: the identity stays listed'],
  ['oriproof.py', 'encoded[31] >> 7', undefined, 'a point and its negative have the same order'],
  ['oriproof.py', 'x = x if x & 1 == sign', undefined, 'the same'],
  ['oriproof.py', 'if y >= P or encoded in', ' > ', 'y = p is among the small-order encodings'],
  ['oriproof.py', '(P - 5) // 8', '4', 'the same quotient'],
  ['oriproof.py', 'pow(2, (P - 1) // 4, P)', undefined, 'the same quotient'],
  ['oriproof.py', 'for bit in bin(L)[2:]', '1', 'one more doubling of the identity'],
  ['oriproof.py', 'raise ValueError("', undefined, 'the message of an error'],
  ['oriproof.py', 'jwk.get("nbf", 0)', '1', 'no store was running in 1970'],
  ['oriproof.py', 'bound = jwk.get(name, 0)', '1', 'an absent bound is no bound'],
  ['oriproof.py', '"little") >= L', undefined, 'OpenSSL refuses S not below L as well'],
  ['oriproof.py', 'self.retention, self.highest', '1', 'a verifier attaches before the first spend'],
  ['oriproof.py', 'while self.by_age', ' < ', 'proofs that old are refused by age'],
  ['oriproof.py', 'def current(self, renew=False)', undefined, 'always given'],
  ['oriproof.py', 'for renew in (False, True)', undefined, 'fetching is covered by tests, not by verdicts'],
  ['oriproof.py', 'if VERSION_2[0] not in proof', '1', 'the two occur together here'],
  ['oriproof.py', 'is_time(jwk.get("exp", 0))', '1', 'an absent end is no end'],
  ['keys.go', 'errSet    =', undefined, 'the message of an error'],
  ['keys.go', 'isSmallOrder(signature[:32])', '33', 'only the first 32 bytes are read'],
  ['keys.go', 'y.Cmp(p) >= 0', ' > ', 'y = p is among the small-order encodings'],
  ['keys.go', 'if x.Bit(0) !=', undefined, 'a point and its negative have the same order'],
  ['rooted.go', 'return nil, 0,', '1', 'nobody reads it beside an error'],
  ['rooted.go', 'strconv.Parse', '63', 'times have at most 15 digits'],
  ['verifier.go', 'tried := 0', '1', 'set again before it is used'],
];

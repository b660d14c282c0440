import type { Query, ScenarioName } from './scenarios.ts';

/** A check that is missing, and the promise that falls with it. */
export interface Mutant {
  readonly in: ScenarioName;
  /** Each text occurs once in the scenario, and is replaced. */
  readonly change: Readonly<Record<string, string>>;
  readonly refutes: Query;
}

const PINNED = 'bound sessions, keys in the configuration';
const ROOTED = 'bound sessions, rooted key sets';
const MIXED = 'both kinds of session, rooted key sets';

const DPOP_OPENED = 'bitstring, =sha256(order)) = open(dpop, holder)';
const SIGNED_V2 = 'sign((V2, i, at, nonce, u, POST, p, h), internKey(d, i))';
const OPENED_V2 = '(=V2, =i, =at, =n, =u, =POST, =p, =sha256(b))';
const KEYS_DELEGATED = '(=DELEGATION, =d, =KEYS, ofKeys: public) = open(delegatesKeys, pk(root))';
const FRESHNESS_DELEGATED =
  '(=DELEGATION, =d, =FRESHNESS, ofSets: public) = open(delegatesFreshness, pk(root))';
const SET_OPENED = 'let (=SET, =d, =i, =t, =sha256(document)) = open(statement, ofSets) in';
const KEY_OPENED = 'let (=KEY, =d, =i, =k) = open(stated, ofKeys) in';
const ANSWER_KEY_OPENED = 'let (=ANSWERKEY, =d, =i, =ofAnswers) = open(answers, keys) in';

export const MUTANTS: Readonly<Record<string, Mutant>> = {
  'the document of the API decides whether a session is bound': {
    in: MIXED,
    change: { 'let binds = BINDS in': 'let binds = document in' },
    refutes: 'accepted-as-asked',
  },
  'the client does not compare whose proof the signer has answered with': {
    in: PINNED,
    change: { 'if x = u then\n': '' },
    refutes: 'sent-as-oneself',
  },
  'a later list of interns moves a name': {
    in: PINNED,
    change: {
      'event Asked(d, u, i, p, b);\n      out(net, (order,':
        'let i = list in event Asked(d, u, i, p, b); out(net, (order,',
    },
    refutes: 'named-as-shown',
  },
  'the signer does not compare the content with the DPoP proof': {
    in: PINNED,
    change: { [DPOP_OPENED]: 'bitstring, any: bitstring) = open(dpop, holder)' },
    refutes: 'accepted-as-asked',
  },
  'the DPoP proof covers the digest but not the path': {
    in: PINNED,
    change: {
      'jti, sha256(order)), session)': 'jti, sha256(sha256(b))), session)',
      [DPOP_OPENED]: 'bitstring, covered: bitstring) = open(dpop, holder)',
      'new call: bitstring;':
        'new call: bitstring; let (o: bitstring, =POST, any: bitstring) = order in if covered = sha256(o) then',
    },
    refutes: 'accepted-as-asked',
  },
  'the signer does not compare the address with the DPoP proof': {
    in: PINNED,
    change: { '(=DPOP, =POST, =signUrl(d, i),': '(=DPOP, =POST, url: bitstring,' },
    refutes: 'accepted-as-asked',
  },
  'the signer takes a DPoP proof of any key': {
    in: PINNED,
    change: { 'open(dpop, holder)': 'message(dpop)' },
    refutes: 'accepted-as-asked',
  },
  'the signer needs no DPoP proof': {
    in: PINNED,
    change: {
      'let (=DPOP, =POST, =signUrl(d, i), =sha256(token), n: bitstring, jti: bitstring, =sha256(order)) = open(dpop, holder) in':
        'let jti = dpop in',
    },
    refutes: 'token-alone',
  },
  'the signer takes a DPoP proof twice': {
    in: PINNED,
    change: { 'event DpopSpent(d, jti, call);': '' },
    refutes: 'once-per-request',
  },
  'the signer does not verify the token': {
    in: PINNED,
    change: {
      'bound(holder: public)) = open(token, pk(issuerKey(d)))': 'bound(holder: public)) = message(token)',
    },
    refutes: 'accepted-as-asked',
  },
  'the signer takes the user from the request': {
    in: PINNED,
    change: {
      'issue(d, i, u, order, at).\n\nlet unboundSigner':
        'in(net, other: user); issue(d, i, other, order, at).\n\nlet unboundSigner',
    },
    refutes: 'accepted-as-asked',
  },
  'the caller chooses the nonce': {
    in: PINNED,
    change: { 'new nonce: bitstring;': 'in(net, nonce: bitstring);' },
    refutes: 'intern-isolation',
  },
  'a bound token is taken without its key': {
    in: MIXED,
    change: { '(=TOKEN, =d, u: user, =unbound)': '(=TOKEN, =d, u: user, any: bitstring)' },
    refutes: 'token-alone',
  },
  'one key signs for all interns, and the intern is not signed': {
    in: PINNED,
    change: {
      [SIGNED_V2]: 'sign((V2, at, nonce, u, POST, p, h), issuerKey(d))',
      [OPENED_V2]: '(=V2, =at, =n, =u, =POST, =p, =sha256(b))',
      'let k = pk(internKey(d, i)) in \n': 'let k = pk(issuerKey(d)) in\n',
    },
    refutes: 'intern-isolation',
  },
  'the user is not signed': {
    in: PINNED,
    change: {
      [SIGNED_V2]: 'sign((V2, i, at, nonce, POST, p, h), internKey(d, i))',
      [OPENED_V2]: '(=V2, =i, =at, =n, =POST, =p, =sha256(b))',
    },
    refutes: 'accepted-as-issued',
  },
  'the path is not signed': {
    in: PINNED,
    change: {
      [SIGNED_V2]: 'sign((V2, i, at, nonce, u, POST, h), internKey(d, i))',
      [OPENED_V2]: '(=V2, =i, =at, =n, =u, =POST, =sha256(b))',
    },
    refutes: 'accepted-as-asked',
  },
  'the body is not signed': {
    in: PINNED,
    change: {
      [SIGNED_V2]: 'sign((V2, i, at, nonce, u, POST, p), internKey(d, i))',
      [OPENED_V2]: '(=V2, =i, =at, =n, =u, =POST, =p)',
    },
    refutes: 'accepted-as-asked',
  },
  'the nonce is not signed': {
    in: PINNED,
    change: {
      [SIGNED_V2]: 'sign((V2, i, at, u, POST, p, h), internKey(d, i))',
      [OPENED_V2]: '(=V2, =i, =at, =u, =POST, =p, =sha256(b))',
    },
    refutes: 'once-per-request',
  },
  'the daemon hashes something else than the body': {
    in: PINNED,
    change: { [OPENED_V2]: '(=V2, =i, =at, =n, =u, =POST, =p, any: bitstring)' },
    refutes: 'accepted-as-issued',
  },
  'the daemon takes the path of the proof for that of the request': {
    in: PINNED,
    change: { [OPENED_V2]: '(=V2, =i, =at, =n, =u, =POST, any: bitstring, =sha256(b))' },
    refutes: 'accepted-as-asked',
  },
  'the daemon does not spend the nonce': {
    in: PINNED,
    change: { 'event NonceSpent(d, i, n, spend);': '' },
    refutes: 'accepted-once',
  },
  'the daemon takes version 1 for version 2': {
    in: PINNED,
    change: { [OPENED_V2]: '(=V1, =i, =at, =u, =sha256(b))' },
    refutes: 'once-per-request',
  },
  'the daemon does not verify the signature': {
    in: PINNED,
    change: { 'open(signature, k)': 'message(signature)' },
    refutes: 'accepted-as-issued',
  },
  'the daemon has the key of another intern': {
    in: PINNED,
    change: { 'let k = pk(internKey(d, i)) in \n': 'in(net, j: intern); let k = pk(internKey(d, j)) in\n' },
    refutes: 'accepted-as-issued',
  },
  'the root is not pinned': {
    in: ROOTED,
    change: {
      'open(delegatesKeys, pk(root))': 'message(delegatesKeys)',
      'open(delegatesFreshness, pk(root))': 'message(delegatesFreshness)',
    },
    refutes: 'accepted-as-issued',
  },
  'the role that states keys may be of another deployment': {
    in: ROOTED,
    change: {
      [KEYS_DELEGATED]:
        '(=DELEGATION, any: deployment, =KEYS, ofKeys: public) = open(delegatesKeys, pk(root))',
    },
    refutes: 'accepted-as-issued',
  },
  'the role that states sets may be of another deployment': {
    in: ROOTED,
    change: {
      [FRESHNESS_DELEGATED]:
        '(=DELEGATION, any: deployment, =FRESHNESS, ofSets: public) = open(delegatesFreshness, pk(root))',
    },
    refutes: 'key-of-its-time',
  },
  'any role may state keys': {
    in: ROOTED,
    change: {
      [KEYS_DELEGATED]: '(=DELEGATION, =d, any: bitstring, ofKeys: public) = open(delegatesKeys, pk(root))',
    },
    refutes: 'accepted-as-issued',
  },
  'any role may state sets': {
    in: ROOTED,
    change: {
      [FRESHNESS_DELEGATED]:
        '(=DELEGATION, =d, any: bitstring, ofSets: public) = open(delegatesFreshness, pk(root))',
    },
    refutes: 'key-of-its-time',
  },
  'the set needs no statement': {
    in: ROOTED,
    change: { [SET_OPENED]: '' },
    refutes: 'key-of-its-time',
  },
  'the statement of a set does not cover the document': {
    in: ROOTED,
    change: { [SET_OPENED]: 'let (=SET, =d, =i, =t, any: bitstring) = open(statement, ofSets) in' },
    refutes: 'accepted-as-issued',
  },
  'the statement of a set may be of any time': {
    in: ROOTED,
    change: {
      [SET_OPENED]: 'let (=SET, =d, =i, any: moment, =sha256(document)) = open(statement, ofSets) in',
    },
    refutes: 'key-of-its-time',
  },
  'statements may be of another intern': {
    in: ROOTED,
    change: {
      [SET_OPENED]: 'let (=SET, =d, any: intern, =t, =sha256(document)) = open(statement, ofSets) in',
      [KEY_OPENED]: 'let (=KEY, =d, other: intern, =k) = open(stated, ofKeys) in',
    },
    refutes: 'key-of-its-time',
  },
  'a key needs no statement': {
    in: ROOTED,
    change: { [KEY_OPENED]: '' },
    refutes: 'accepted-as-issued',
  },
  'the statement of a key may be of another key': {
    in: ROOTED,
    change: { [KEY_OPENED]: 'let (=KEY, =d, =i, any: public) = open(stated, ofKeys) in' },
    refutes: 'accepted-as-issued',
  },
  'the statement of a key may be of another intern': {
    in: ROOTED,
    change: { [KEY_OPENED]: 'let (=KEY, =d, other: intern, =k) = open(stated, ofKeys) in' },
    refutes: 'accepted-as-issued',
  },
  'the client does not verify the signature of an answer': {
    in: PINNED,
    change: { 'open(signature, ofAnswers)': 'message(signature)' },
    refutes: 'answered-to-this-call',
  },
  'the call is not signed with its answer': {
    in: PINNED,
    change: {
      'sign((ANSWER, sha256((V2, i, at, n, u, POST, p, sha256(b))), r)': 'sign((ANSWER, r)',
      '(=ANSWER, =sha256((V2, i, at, n, u, POST, p, sha256(b))), =r)': '(=ANSWER, =r)',
    },
    refutes: 'answered-to-this-call',
  },
  'an answer key needs no statement': {
    in: ROOTED,
    change: { [ANSWER_KEY_OPENED]: '' },
    refutes: 'answered-to-this-call',
  },
  'the statement of an answer key may be of another intern': {
    in: ROOTED,
    change: {
      [ANSWER_KEY_OPENED]: 'let (=ANSWERKEY, =d, other: intern, =ofAnswers) = open(answers, keys) in',
    },
    refutes: 'answered-to-this-call',
  },
};

import { BODY, jwk, namedKey, netstrings, sha256, signed, type TestKey } from './proof.ts';
import { INTERN_ID } from './scenario.ts';

/** Answers of one key set URL, in order, to a verifier that pins roots (ROOTED-KEY-SETS.md). */
export interface RootedSetVector {
  title: string;
  sentences: string[];
  baseUrl: string;
  internId: string;
  /** The pinned roots, as JWKs. */
  roots: Record<string, unknown>[];
  answers: RootedAnswer[];
}

export interface RootedAnswer {
  /** The document; absent with status 304. */
  bodyBase64?: string;
  /** The value of `x-ori-key-set`, unless the header is absent. */
  statement?: string;
  /** The verifier's clock, Unix milliseconds. */
  now: number;
  /** `ok` or the code of the refusal. */
  expect: string;
  /** Another acceptable code: why the key is not admitted. */
  or?: string;
  /** From when on the set may not be used, Unix milliseconds; only with `ok`. */
  until?: number;
}

const BASE = 'https://ori.example/v1';
const NOW = 1_789_000_000_000;
const NBF = NOW / 1000 - 100;
const EXP = NOW / 1000 + 5000;
const ROOT = namedKey('root');
const NEXT_ROOT = namedKey('next root');
const KEYS = namedKey('role keys');
const FRESHNESS = namedKey('role freshness');
const MALLORY = namedKey('mallory');
const ONE = namedKey('one');
const TWO = namedKey('two');

const xOf = ({ publicKey }: TestKey): string => publicKey.toString('base64url');
type Members = Record<string, unknown>;

interface DelegationWish {
  by?: TestKey;
  base?: string;
  nbf?: number;
  exp?: number;
}

function delegation(
  role: string,
  key: TestKey,
  { by = ROOT, base = BASE, nbf = NBF, exp = EXP }: DelegationWish = {},
): Members {
  const input = netstrings('ori-delegation-v1', base, role, xOf(key), String(nbf), String(exp));
  return { role, x: xOf(key), nbf, exp, signature: signed(input, by) };
}

const DELEGATIONS = [delegation('keys', KEYS), delegation('freshness', FRESHNESS)];

interface StatementWish {
  by?: TestKey;
  base?: string;
  internId?: string;
  nbf?: number | '';
  exp?: number | '';
}

function statement(
  key: TestKey,
  { by = KEYS, base = BASE, internId = INTERN_ID, nbf = NBF, exp = EXP }: StatementWish = {},
): string {
  return signed(netstrings('ori-key-v1', base, internId, xOf(key), String(nbf), String(exp)), by);
}

const keyOf = (key: TestKey): Members => ({ ...jwk(key.publicKey), nbf: NBF, exp: EXP });

interface DocumentParts {
  keys: unknown;
  delegations: unknown;
  statements: unknown;
}

function documentOf(changes: Partial<DocumentParts> = {}): Members {
  const { keys = [keyOf(ONE)], delegations = DELEGATIONS, statements = [statement(ONE)] } = changes;
  return { keys, ori: { delegations, statements } };
}

interface AnswerWish {
  at?: number;
  now?: number;
  by?: TestKey;
  base?: string;
  internId?: string;
  /** What the statement is over, unless the document itself. */
  over?: unknown;
  header?: string | null;
  until?: number;
}

const bytesOf = (document: unknown): Buffer =>
  Buffer.isBuffer(document) ? document : Buffer.from(JSON.stringify(document));

function headerOf(
  document: unknown,
  { at = NOW, by = FRESHNESS, base = BASE, internId = INTERN_ID }: AnswerWish,
) {
  return `${at} ${signed(netstrings('ori-key-set-v1', base, internId, String(at), sha256(bytesOf(document))), by)}`;
}

/** @param expect the code, and after a space another one that will do */
function answer(expect: string, document: unknown, wish: AnswerWish = {}): RootedAnswer {
  const { at = NOW, now = NOW, over = document, header = headerOf(over, wish) } = wish;
  const [code = '', or] = expect.split(' ');
  return {
    bodyBase64: bytesOf(document).toString('base64'),
    ...(header !== null && { statement: header }),
    now,
    expect: code,
    ...(or !== undefined && { or }),
    ...(expect === 'ok' && { until: wish.until ?? at + 60_000 }),
  };
}

/** An answer of status 304: the statement is over the document in use. */
function unchanged(expect: string, over: unknown, wish: AnswerWish = {}): RootedAnswer {
  const { bodyBase64, ...rest } = answer(expect, over, wish);
  return rest;
}

function vector(
  sentences: string,
  title: string,
  answers: readonly RootedAnswer[],
  roots: readonly TestKey[] = [ROOT],
  interval: { nbf?: number; exp?: number } = {},
): RootedSetVector {
  return {
    title,
    sentences: sentences.split(' '),
    baseUrl: BASE,
    internId: INTERN_ID,
    roots: roots.map(({ publicKey }) => ({ ...jwk(publicKey), ...interval })),
    answers: [...answers],
  };
}

const GOOD = documentOf();
const BOTH = documentOf({ keys: [keyOf(TWO), keyOf(ONE)], statements: [statement(TWO), statement(ONE)] });
const refused = (sentences: string, code: string, title: string, document: unknown, wish?: AnswerWish) =>
  vector(sentences, `rooted: refuses ${title}`, [answer(code, document, wish)]);
const malformed = (title: string, document: unknown, wish?: AnswerWish) =>
  refused('R3', 'key_set_malformed', title, document, wish);
const roleless = (title: string, document: unknown) =>
  refused('R5 R6', 'key_set_role_missing', title, document);
const unsigned = (title: string, document: unknown, wish: AnswerWish) =>
  refused('R7', 'key_set_signature_invalid', title, document, wish);
const unstated = (codes: string, title: string, document: unknown) => refused('R11', codes, title, document);
const accepted = (sentences: string, title: string, document: unknown, wish?: AnswerWish) =>
  vector(sentences, `rooted: accepts ${title}`, [answer('ok', document, wish)]);

const delegated = (...delegations: unknown[]): Members => documentOf({ delegations });
const changed = (change: Members): Members => delegated({ ...DELEGATIONS[0], ...change }, DELEGATIONS[1]);
const keyed = (change: Members, wish: StatementWish = {}): Members =>
  documentOf({ keys: [{ ...keyOf(ONE), ...change }], statements: [statement(ONE, wish)] });
const GOOD_HEADER = headerOf(GOOD, {});
const SIGNATURE = GOOD_HEADER.split(' ')[1] ?? '';

const malformedDocuments: [title: string, document: unknown][] = [
  ['a document that is no JSON', Buffer.from('{')],
  ['a document with a byte that is no UTF-8', Buffer.from(JSON.stringify({ ...GOOD, note: 'ÿ' }), 'latin1')],
  ['a document that is a list', [GOOD]],
  ['a document that is null', null],
  ['a document that is text', 'keys'],
  ['a document without keys', { ori: { delegations: DELEGATIONS, statements: [] } }],
  ['keys that are an object', documentOf({ keys: { 0: keyOf(ONE) } })],
  ['an ori that is null', { ...GOOD, ori: null }],
  ['an ori that is a list', { ...GOOD, ori: [] }],
  ['an ori that is text', { ...GOOD, ori: 'rooted' }],
  ['delegations that are an object', documentOf({ delegations: {} })],
  ['statements that are an object', documentOf({ statements: {} })],
  ['fewer statements than keys', documentOf({ statements: [] })],
  ['more statements than keys', documentOf({ statements: [statement(ONE), statement(TWO)] })],
  ['a statement that is a number', documentOf({ statements: [7] })],
  ['a statement with more after its signature', documentOf({ statements: [`${statement(ONE)}=`] })],
  ['a statement that is no signature', documentOf({ statements: [statement(ONE).slice(4)] })],
  ['a delegation that is null', delegated(...DELEGATIONS, null)],
  ['a delegation that is a list', delegated(...DELEGATIONS, [])],
  ['a delegation of an unknown role', changed({ role: 'signer' })],
  ['a delegation without a role', changed({ role: undefined })],
  ['a delegation without a key', changed({ x: undefined })],
  ['a delegation with a number for a key', changed({ x: 7 })],
  ['a delegation with a short key', changed({ x: xOf(KEYS).slice(2) })],
  ['a delegation with padding after its key', changed({ x: `${xOf(KEYS)}=` })],
  ['a delegation without a beginning', changed({ nbf: undefined })],
  ['a delegation that begins at a text', changed({ nbf: String(NBF) })],
  ['a delegation that begins at half a second', changed({ nbf: NBF + 0.5 })],
  ['a delegation that begins before 1970', changed({ nbf: -1 })],
  ['a delegation without an end', changed({ exp: undefined })],
  ['a delegation whose end is null', changed({ exp: null })],
  ['a delegation that ends at a text', changed({ exp: String(EXP) })],
  ['a delegation that ends after the last timestamp', changed({ exp: 1_000_000_000_000 })],
  ['a delegation without a signature', changed({ signature: undefined })],
  ['a delegation with a number for a signature', changed({ signature: 7 })],
  ['a delegation with a short signature', changed({ signature: SIGNATURE.slice(4) })],
];

const malformedHeaders: [title: string, header: string][] = [
  ['an empty statement', ''],
  ['a statement without a time', SIGNATURE],
  ['a statement without a signature', String(NOW)],
  ['a time with a leading zero', `0${GOOD_HEADER}`],
  ['a time of sixteen digits', `1000000000000000 ${SIGNATURE}`],
  ['a time with a fraction', `${NOW}.5 ${SIGNATURE}`],
  ['two spaces', GOOD_HEADER.replace(' ', '  ')],
  ['a statement that ends with a space', `${GOOD_HEADER} `],
  ['a signature in base64url', `${NOW} ${'_'.repeat(85)}A==`],
  ['a signature that is not canonical', `${NOW} ${SIGNATURE.slice(0, 85)}B==`],
  ['a signature without padding', GOOD_HEADER.slice(0, -2)],
];

const SMALL_ORDER = { publicKey: Buffer.from(`01${'00'.repeat(31)}`, 'hex') };
const roles = (keys: DelegationWish, freshness: DelegationWish = {}): Members =>
  delegated(delegation('keys', KEYS, keys), delegation('freshness', FRESHNESS, freshness));

export const rootedSetVectors: RootedSetVector[] = [
  accepted('R1', 'what the root vouches for', GOOD),
  accepted('R1', 'a set of no keys', documentOf({ keys: [], statements: [] })),
  accepted('R1', 'members that it does not know', { ...GOOD, note: 1 }),
  refused('R2', 'key_set_unstated', 'an answer without the header', GOOD, { header: null }),
  refused('R2', 'key_set_unstated', 'a document without ori', { keys: [] }),
  refused('R1 R2', 'key_set_unstated', 'a malformed document without the header', Buffer.from('{'), {
    header: null,
  }),
  ...malformedDocuments.map(([title, document]) => malformed(title, document)),
  ...malformedHeaders.map(([title, header]) => malformed(title, GOOD, { header })),
  vector('R3', 'rooted: refuses a 304 where no set is known', [unchanged('key_set_malformed', GOOD)]),
  refused(
    'R4',
    'key_set_too_large',
    '17 delegations',
    delegated(...Array(16).fill(DELEGATIONS[0]), DELEGATIONS[1]),
  ),
  accepted('R4', '16 delegations', delegated(...Array(15).fill(DELEGATIONS[0]), DELEGATIONS[1])),
  refused(
    'R4',
    'key_set_too_large',
    '101 keys',
    documentOf({ keys: Array(101).fill(keyOf(ONE)), statements: Array(101).fill(statement(ONE)) }),
  ),

  refused(
    'R4 R11',
    'key_unstated key_repeated',
    'a key that is listed 100 times',
    documentOf({ keys: Array(100).fill(keyOf(ONE)), statements: Array(100).fill(statement(ONE)) }),
  ),

  accepted('R5', 'a role until the last timestamp', roles({ exp: 999_999_999_999 })),
  accepted('R5', 'a delegation from its first second on', roles({ nbf: NOW / 1000 })),
  roleless('a role before its first second', roles({ nbf: NOW / 1000 + 1 })),
  roleless('a role that ends in this second', roles({ exp: NOW / 1000 })),
  accepted('R5', 'a role in its last second', roles({ exp: NOW / 1000 + 1 }), {
    until: NOW + 1000,
  }),
  refused('R6', 'key_set_role_missing', 'a set without the role keys', delegated(DELEGATIONS[1])),
  refused('R6', 'key_set_role_missing', 'a set without the role freshness', delegated(DELEGATIONS[0])),
  roleless('roles by no pinned root', roles({ by: MALLORY })),
  roleless('a role of another deployment', roles({ base: 'https://other.example/v1' })),
  roleless(
    'a delegation whose role was changed',
    delegated({ ...delegation('freshness', KEYS), role: 'keys' }, DELEGATIONS[1]),
  ),
  accepted(
    'R5',
    'delegations that it passes over',
    delegated(delegation('keys', MALLORY, { by: MALLORY }), ...DELEGATIONS),
  ),
  accepted(
    'R5',
    'roles by a root that the pinned one delegated to',
    delegated(
      delegation('root', NEXT_ROOT),
      delegation('keys', KEYS, { by: NEXT_ROOT }),
      delegation('freshness', FRESHNESS, { by: NEXT_ROOT }),
    ),
  ),
  roleless(
    'roles that come before the delegation of their root',
    delegated(
      delegation('keys', KEYS, { by: NEXT_ROOT }),
      delegation('freshness', FRESHNESS, { by: NEXT_ROOT }),
      delegation('root', NEXT_ROOT),
    ),
  ),
  roleless(
    'roles that a role delegated',
    delegated(DELEGATIONS[1], delegation('keys', KEYS, { by: FRESHNESS })),
  ),

  unsigned('a statement of another time', GOOD, {
    header: `${NOW + 1} ${SIGNATURE}`,
  }),
  unsigned('a statement over another document', GOOD, { over: BOTH }),
  unsigned('a statement by the role keys', GOOD, { by: KEYS }),
  unsigned('a statement by the root', GOOD, { by: ROOT }),
  unsigned('a statement for another intern', GOOD, {
    internId: 'int_other',
  }),
  unsigned('a statement for another deployment', GOOD, {
    base: `${BASE}/`,
  }),
  vector('R7', 'rooted: refuses a 304 whose statement is over another document than the one in use', [
    answer('ok', GOOD),
    unchanged('key_set_signature_invalid', BOTH),
    unchanged('ok', GOOD, { at: NOW + 1000, now: NOW + 1000 }),
  ]),
  accepted(
    'R7',
    'a statement by the second of two freshness roles',
    delegated(DELEGATIONS[0], delegation('freshness', MALLORY), DELEGATIONS[1]),
  ),

  accepted('R8', 'a time 10 s ahead', GOOD, { at: NOW + 10_000 }),
  refused('R8', 'key_set_ahead', 'a time 10.001 s ahead', GOOD, { at: NOW + 10_001 }),
  accepted('R9', 'a time of 59.999 s ago', GOOD, { at: NOW - 59_999 }),
  ...[0, 5].map((at) => refused('R9', 'key_set_frozen', `the time ${at}`, GOOD, { at })),
  refused('R8', 'key_set_ahead', 'a time of fifteen digits', GOOD, { at: 999_999_999_999_999 }),
  refused('R9', 'key_set_frozen', 'a time of 60 s ago', GOOD, { at: NOW - 60_000 }),
  vector('R9 R12', 'rooted: refuses a 304 of 60 s ago', [
    answer('ok', GOOD),
    unchanged('key_set_frozen', GOOD, { now: NOW + 60_000 }),
  ]),

  vector('R10', 'rooted: refuses an older document after a newer one', [
    answer('ok', GOOD),
    answer('key_set_rolled_back', BOTH, { at: NOW - 1 }),
  ]),
  vector('R10', 'rooted: refuses another document of the same time', [
    answer('ok', GOOD),
    answer('key_set_rolled_back', BOTH),
  ]),
  vector('R10', 'rooted: accepts another document of a later time', [
    answer('ok', GOOD),
    answer('ok', BOTH, { at: NOW + 1 }),
    answer('key_set_rolled_back', GOOD),
  ]),
  vector('R10', 'rooted: refuses a document from before the newest confirmation of the one in use', [
    answer('ok', GOOD),
    unchanged('ok', GOOD, { at: NOW + 2000 }),
    answer('key_set_rolled_back', BOTH, { at: NOW + 1000 }),
    answer('key_set_rolled_back', BOTH, { at: NOW + 2000 }),
  ]),
  vector('R10 R12', 'rooted: an older statement of the same document does not shorten its time', [
    answer('ok', GOOD),
    answer('ok', GOOD, { at: NOW - 5000, until: NOW + 60_000 }),
    unchanged('ok', GOOD, { at: NOW - 7000, until: NOW + 60_000 }),
    answer('key_set_rolled_back', BOTH, { at: NOW - 1000 }),
  ]),
  vector('R1', 'rooted: an answer that fails changes nothing', [
    answer('ok', GOOD, { at: NOW - 5000 }),
    answer('key_set_signature_invalid', BOTH, { by: MALLORY, at: NOW }),
    answer('ok', BOTH, { at: NOW - 4000 }),
  ]),

  unstated(
    'key_unstated',
    'a key of another kind',
    documentOf({
      keys: [keyOf(ONE), { kty: 'RSA', n: 'u1W', e: 'AQAB' }],
      statements: [statement(ONE), statement(ONE)],
    }),
  ),
  unstated('key_unstated', 'a key for encryption', keyed({ use: 'enc' })),
  unstated('key_unstated key_set_malformed', 'a key from half a second on', keyed({ nbf: NBF + 0.5 })),
  unstated(
    'key_unstated key_set_malformed',
    'a key that is null',
    documentOf({ keys: [null], statements: [statement(ONE)] }),
  ),
  unstated('key_unstated', 'a key that another stated', keyed({}, { by: MALLORY })),
  unstated('key_unstated', 'a key that the role freshness stated', keyed({}, { by: FRESHNESS })),
  unstated('key_unstated', 'a key of another intern', keyed({}, { internId: 'int_other' })),
  unstated('key_unstated', 'a key of another deployment', keyed({}, { base: 'https://other.example/v1' })),
  unstated('key_unstated', 'a key with another beginning', keyed({ nbf: NBF - 1 })),
  unstated('key_unstated', 'a key with another end', keyed({ exp: EXP + 1 })),
  unstated('key_unstated', 'a key without the end that was stated', keyed({ exp: undefined })),
  accepted('R11', 'a key that was stated without an end', keyed({ exp: undefined }, { exp: '' })),
  unstated(
    'key_unstated key_set_malformed',
    'a key stated without a beginning',
    keyed({ nbf: undefined }, { nbf: '' }),
  ),
  ...[0, 7].map((nbf) => accepted('R11', `a key stated from second ${nbf} on`, keyed({ nbf }, { nbf }))),
  ...['a', 'z'.repeat(128)].map((internId) => ({
    ...accepted(
      'R11',
      `a key of an intern whose id has ${internId.length} characters`,
      documentOf({ statements: [statement(ONE, { internId })] }),
      { internId },
    ),
    internId,
  })),
  unstated(
    'key_unstated',
    'statements in another order than the keys',
    documentOf({ keys: [keyOf(ONE), keyOf(TWO)], statements: [statement(TWO), statement(ONE)] }),
  ),
  accepted(
    'R11',
    'a key stated by the second of two roles',
    delegated(delegation('keys', MALLORY), ...DELEGATIONS),
  ),
  unstated(
    'key_unstated key_small_order',
    'a key of small order',
    documentOf({ keys: [{ ...jwk(SMALL_ORDER.publicKey), nbf: NBF, exp: EXP }] }),
  ),
  unstated(
    'key_unstated key_repeated',
    'a key that is listed twice',
    documentOf({ keys: [keyOf(ONE), keyOf(ONE)], statements: [statement(ONE), statement(ONE)] }),
  ),
  unstated('key_unstated key_private_part', 'a private key', keyed({ d: BODY.toString('base64url') })),

  accepted('R12', 'a set until the role keys ends', roles({ exp: NOW / 1000 + 7 }), {
    until: NOW + 7000,
  }),
  accepted('R12', 'a set until the role freshness ends', roles({}, { exp: NOW / 1000 + 7 }), {
    until: NOW + 7000,
  }),
  accepted(
    'R12',
    'a set until the role root ends that its roles depend on',
    delegated(
      delegation('root', NEXT_ROOT, { exp: NOW / 1000 + 7 }),
      delegation('keys', KEYS, { by: NEXT_ROOT }),
      delegation('freshness', FRESHNESS, { by: NEXT_ROOT }),
    ),
    { until: NOW + 7000 },
  ),
  ...(
    [
      ['R12', 'accepts a set until its pinned root ends', 7, { until: NOW + 7000 }],
      ['R5', 'refuses roles by a pinned root that has ended', 0, undefined],
    ] as const
  ).map(([sentences, title, seconds, end]) =>
    vector(
      sentences,
      `rooted: ${title}`,
      [answer(end ? 'ok' : 'key_set_role_missing', GOOD, { ...end })],
      [ROOT],
      { nbf: NBF, exp: NOW / 1000 + seconds },
    ),
  ),
  roleless('one key with both roles', delegated(delegation('keys', KEYS), delegation('freshness', KEYS))),
  roleless('a root that is a role too', delegated(delegation('keys', ROOT), DELEGATIONS[1])),
  vector(
    'R13',
    'rooted: accepts roles of the second of two pinned roots',
    [answer('ok', GOOD)],
    [NEXT_ROOT, ROOT],
  ),
];

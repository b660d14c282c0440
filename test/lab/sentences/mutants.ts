/** What an author gets wrong: a sentence, the file of our own verifier (Python's, or TypeScript's), and the line that breaks the sentence. */
export type Mutant = readonly [sentence: string, file: string, from: string, to: string];

const V = 'python/src/ori_proof/verifier.py';
const M = 'python/src/ori_proof/memory.py';
const K = 'python/src/ori_proof/keys.py';
const E = 'python/src/ori_proof/ed25519.py';
const A = 'python/src/ori_proof/answers.py';
const R = 'python/src/ori_proof/records.py';
const FIELDS = 'proof/src/fields.ts';
const HEADERS = 'proof/src/read-headers.ts';
const JWKS = 'proof/src/read-jwk-set.ts';
const REQUEST = 'verifier/src/requirements.ts';
const VERIFIER = 'verifier/src/verifier.ts';
const PROOF = 'proof/src/answer-proof/answer-proof.ts';
const ORI = 'services/ori/src/proven/proving.ts';
const STORE = 'verifier/src/replay/memory/store.ts';
const RECORDER = 'verifier/src/answers/recorder.ts';
const ANSWERS = 'verifier/src/answers/keep-answers.ts';

export const MUTANTS: readonly Mutant[] = [
  ['F1', V, '(?:0|[1-9][0-9]{0,11})', '[0-9]{1,12}'],
  ['F1', V, '[\\x21-\\x2b\\x2d-\\x7e]{1,255}', '[\\x21-\\x7e]{1,255}'],
  ['F1', V, '\\x2d-\\x7e]{1,255}', '\\x2d-\\x7e]{1,256}'],
  ['F1', V, '[A-Za-z0-9_-]{21}[AQgw]', '[A-Za-z0-9_-]{22}'],
  ['B2', V, '{85}[AQgw]==', '{86}=='],
  ['B3', K, 'signature[:32] in SMALL_ORDER or ', ''],
  ['B4', K, '"little") >= L', '"little") >= 2**256'],
  ['H1', V, 'name = name.lower()', 'name = bytes(name)'],
  ['H2', V, 'is_repeated = True', 'pass'],
  ['H3', V, 'name = name.lower()', 'name = name.lower().replace(b"_", b"-")'],
  ['V3', V, 'raise Refused("proof_missing", "a', 'raise Refused("proof_malformed", "a'],
  ['V4', V, 'if signature_v2 is not None or nonce is not None:', 'if False:'],
  ['V5', V, 'if not self.policy.accept_v1:', 'if False:'],
  ['V6', V, 'signature_v2 or signature, spend', 'signature, spend'],
  ['V7', V, 'method != "POST"', 'method.upper() != "POST"'],
  ['V8', V, '/[\\x21\\x22\\x24-\\x3e\\x40-\\x7e]', '/[\\x21-\\x7e]'],
  ['V8', V, 'rb"/[\\x21', 'rb"[\\x21'],
  ['V9', V, 'types == 1 and', 'types >= 1 and'],
  ['V9', V, 'types == 1 and', 'types <= 1 and'],
  ['V10', V, 'charset=(?:utf-8|"utf-8")', 'charset=[a-z0-9"-]+'],
  ['V10', V, '(?!multipart/)', ''],
  ['V11', V, 'is_plain = is_plain and is_identity(value) is not None', 'pass'],
  ['V11', V, 'is_plain = is_plain and is_identity', 'is_plain = is_identity'],
  ['V12', V, 'spend.timestamp < now -', 'spend.timestamp <= now -'],
  ['V12', V, 'if spend.timestamp < now - self.policy.max_age_seconds:', 'if False:'],
  ['V13', V, 'spend.timestamp > now +', 'spend.timestamp >= now +'],
  ['V13', V, 'if spend.timestamp > now + self.policy.clock_tolerance_seconds:', 'if False:'],
  ['V14', V, '"signature_invalid" if is_known else "key_unknown"', '"signature_invalid"'],
  ['V15', V, 'if key.verifies(signature, signed):', 'if True:'],
  ['V16', V, 'caller, once, path, now', 'caller, once, path.replace("%2F", "%2f"), now'],
  ['V17', V, 'if now - self._spend.now > BODY_SECONDS:', 'if False:'],
  ['V17', V, 'self._spend.now > BODY_SECONDS', 'self._spend.now >= BODY_SECONDS'],
  ['V19', V, 'if path.startswith(QUESTION_PATH):', 'if False:'],
  ['V20', V, 'elif leads_to_question(path):', 'elif False:'],
  ['V20', A, 'unquote(path, "latin-1").lower()', 'path.lower()'],
  ['V20', A, 'unquote(path, "latin-1").lower()', 'unquote(path, "latin-1")'],
  ['V20', A, 'segment not in ("", ".")', 'segment != ""'],
  ['K1', K, 'len(keys) > 100', 'len(keys) > 1000'],
  ['K1', K, 'or not all(isinstance(jwk, dict) for jwk in keys)', ''],
  ['K2', K, 'jwk.get("kty") == "OKP"', 'True'],
  ['K2', K, 'jwk.get("crv") == "Ed25519"', 'True'],
  ['K2', K, 'jwk.get("use", "sig") == "sig"', '(jwk.get("use") or "sig") == "sig"'],
  ['K2', K, 'jwk.get("alg", "EdDSA") in ("EdDSA", "Ed25519")', 'True'],
  ['K2', K, 'and "verify" in operations', ''],
  ['K3', K, 'jwk.get("use", "sig")', 'jwk.get("use")'],
  ['K4', K, '{"d", "k", "priv"}', '{"d"}'],
  ['K5', K, '[AEIMQUYcgkosw048]', '[A-Za-z0-9_-]'],
  ['K6', K, 'jwk.get("kid", thumbprint) != thumbprint', '(jwk.get("kid") or thumbprint) != thumbprint'],
  ['K7', K, ' or bound < 0', ''],
  ['K7', K, 'self.ends <= self.begins', 'self.ends < self.begins'],
  ['K7', K, 'type(bound) not in (int, float)', 'not isinstance(bound, (int, float))'],
  ['K8', K, 'taken.setdefault(key.x, key)', 'taken[key.x] = key'],
  ['K9', K, '            continue', '            raise ValueError("a key")'],
  ['K11', E, 'y >= P or encoded in SMALL_ORDER', 'encoded in SMALL_ORDER'],
  ['K11', E, 'y >= P or encoded in SMALL_ORDER', 'y >= P'],
  ['K11', E, 'return sum_[0] == 0 and sum_[1] == sum_[2]', 'return True'],
  ['K12', V, '< key.ends and tried < 3', '<= key.ends and tried < 3'],
  ['K12', V, 'if key.begins <= timestamp < key.ends and', 'if timestamp < key.ends and'],
  ['K13', V, 'tried < 3', 'tried < 4'],
  ['K13', V, 'tried < 3', 'tried < 2'],
  ['N1', M, 'if timestamp > now + policy.clock_tolerance_seconds:', 'if False:'],
  ['N2', M, ' or timestamp <= horizon:', ':'],
  ['N3', M, 'if timestamp <= ledger.floor or ', 'if '],
  ['N4', M, 'if timestamp <= (bound :=', 'if timestamp < (bound :='],
  ['N4', M, '(bound := math.ceil(fence))', '(bound := math.floor(fence))'],
  ['N4', M, 'return created + policy.clock_tolerance_seconds', 'return created'],
  ['N5', M, 'math.ceil(bound + 1 - now)', 'math.ceil(bound - now)'],
  [
    'N6',
    M,
    `            if horizon > ledger.looked_for:
                self._entries -= ledger.forget(horizon)
            if timestamp <= ledger.floor or timestamp <= horizon:
                require_spent("expired")
`,
    `            if timestamp <= ledger.floor or timestamp <= horizon:
                require_spent("expired")
            self.least = min(getattr(self, "least", policy.retention_seconds), policy.retention_seconds)
            self._entries -= ledger.forget(math.floor(now - self.least))
`,
  ],
  ['N7', M, 'if not ledger.spent.isdisjoint(conflicting):', 'if False:'],
  ['N7', M, 'self._lock = threading.Lock()', 'self._lock = __import__("contextlib").nullcontext()'],
  ['N7', M, 'self._ledgers.get(policy.intern_id)', 'next(iter(self._ledgers.values()), None)'],
  ['N8', M, 'math.floor(now - policy.retention_seconds)', 'math.floor(now - policy.max_age_seconds)'],
  ['N8', M, 'math.floor(now - policy.retention_seconds)', 'math.floor(now - policy.retention_seconds + 30)'],
  [
    'N9',
    M,
    '            raise Refused("replay_store_full"',
    '            return self._ledgers.clear()\n            raise Refused("replay_store_full"',
  ],
  ['N9', M, 'self._entries += ledger.add(timestamp, recorded)', 'ledger.add(timestamp, recorded)'],
  ['O1', M, 'return (v1_id, b"m" + v1_id), (v1_id,)', 'return (b"m" + v1_id,), (v1_id,)'],
  ['O2', M, 'return (v1_id, b"m" + v1_id), (v1_id,)', 'return (v1_id,), (v1_id,)'],
  ['O4', M, 'return (spend.nonce, v1_id),', 'return (spend.nonce,),'],
  ['O5', M, 'return (spend.nonce, v1_id),', 'return (spend.nonce, v1_id, b"m" + v1_id),'],
  ['O8', M, 'fence = max(fence, ledger.marks_from)', 'pass'],
  ['O8', M, 'self.highest = timestamp', 'self.highest = -1'],
  ['N14', A, 'if path is None or not path.startswith(QUESTION_PATH):', 'if True:'],
  ['N15', M, 'if nonce is not None and spend.caller is not None:', 'if False:'],
  ['N16', A, '"set-cookie"', ''],
  ['N16', A, ' and n not in named', ''],
  ['N16', A, 'self._end(self._alone or Answer(self._status,', 'self._end(Answer(200,'],
  ['N16', A, '{**headers, "ori-answer": "kept"}', '{"ori-answer": "kept"}'],
  ['N17', A, 'RUNNING.headers["retry-after"] = "1"', ''],
  ['N17', A, '    "running": RUNNING,', '    "running": _error(410, "answer_lost", "Lost."),'],
  ['N18', M, '                    return "lost"\n', '                    return "not_received"\n'],
  ['N18', A, 'self._end("too_large")', 'self._end("lost")'],
  ['N19', M, '(call.nonce, "x" + call.nonce))', '("x" + call.nonce,))'],
  ['N19', M, 'latest = math.ceil(now) + TOLERANCE_SECONDS_MAX', 'latest = math.ceil(now) - 600'],
  ['N20', M, 'timestamp - QUESTION_SECONDS_MAX > since', 'timestamp > since'],
  ['N20', M, 'timestamp - QUESTION_SECONDS_MAX > since', 'timestamp - QUESTION_SECONDS_MAX >= since'],
  ['N20', M, 'max(self._fence(call.policy, now), ledger.unrecorded)', 'self._fence(call.policy, now)'],
  ['N20', M, 'return "not_received" if is_certain else "lost"', 'return "lost"'],
  ['N20', M, 'return "not_received" if is_certain else "lost"', 'return "not_received"'],
  ['N21', M, 'record is not None and record.user == call.user', 'record is not None'],
  [
    'N21',
    M,
    'is not None and record.user == call.user:\n                return record.end',
    'is not None:\n                return record.end if record.user == call.user else "not_received"',
  ],
  ['N22', M, 'ledger.marks_from is None and timestamp', 'timestamp'],
  ['N22', A, 'if policy.accept_v1:', 'if False:'],
  ['N23', R, 'self._ended[0][1].at <= now - ANSWER_SECONDS', 'self._ended[0][1].at <= now - 92'],
  ['N23', R, 'record.at <= now - RUNNING_SECONDS_MAX', 'record.at <= now - 92'],

  ['F1', FIELDS, '/^(?:0|[1-9][0-9]{0,11})$/', '/^(?:0|[1-9][0-9]{0,11})$/m'],
  ['F1', FIELDS, '/^[A-Za-z0-9_-]{21}[AQgw]$/', '/^[A-Za-z0-9_-]{22}$/'],
  ['V8', FIELDS, '\\x24-\\x3e\\x40-\\x7e]{0,2047}$', '\\x24-\\x7e]{0,2047}$'],
  ['H1', HEADERS, "join('|')})$`, 'i')", "join('|')})$`)"],
  ['H2', HEADERS, "if (repeated) throw malformed('a proof header occurs more than once');", ''],
  ['K1', JWKS, 'entries.length > JWK_SET_KEYS_MAX', 'entries.length > 1000'],
  ['K4', JWKS, "['d', 'k', 'priv']", "['d']"],
  ['K6', JWKS, 'if (kid !== undefined && kid !== key.kid)', 'if (kid && kid !== key.kid)'],
  ['V7', REQUEST, 'if (method !== PROOF_METHOD)', 'if (method.toUpperCase() !== PROOF_METHOD)'],
  ['V9', REQUEST, 'if (mediaTypes !== 1)', 'if (mediaTypes < 1)'],
  ['V11', REQUEST, 'if (!IDENTITY.test(value))', "if (value === 'gzip')"],
  ['V12', REQUEST, 'policy.maxAgeSeconds <= timestamp', 'policy.maxAgeSeconds < timestamp'],
  ['V19', REQUEST, 'if (asks && policy.answers === undefined)', 'if (false)'],
  ['V20', REQUEST, 'if (!asks && leadsToQuestion(target))', 'if (false)'],
  ['V17', VERIFIER, 'STREAM_SECONDS_MAX * 1000)', 'STREAM_SECONDS_MAX * 2000)'],
  ['N2', STORE, ' || timestamp <= horizon)', ')'],
  ['N3', STORE, 'if (timestamp <= ledger.floor || ', 'if ('],
  ['N4', STORE, 'const bound = Math.ceil(', 'const bound = Math.floor('],
  [
    'N9',
    STORE,
    "throw new UnavailableError('replay_store_full'",
    "if (entriesMax === 0) throw new UnavailableError('replay_store_full'",
  ],
  ['O3', STORE, 'isMarking ? v1Id() : undefined', 'undefined'],
  ['N16', RECORDER, "  'set-cookie',\n", ''],
  ['N17', ANSWERS, "    'retry-after': '1',\n", ''],
  ['N20', STORE, 'timestamp - QUESTION_SECONDS_MAX > since', 'timestamp > since'],
  [
    'N21',
    STORE,
    'if (record?.user === user) return record.end;',
    'if (record !== undefined) return record.end;',
  ],
  ['P1', PROOF, '13:ori-answer-v1,', '13:ori-answer-v2,'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as it is written there.
  ['P1', PROOF, ':${length},64', ':0,64'],
  ['P2', ANSWERS, ' || ANSWER_PROOF in answer.headers', ''],
  ['P2', ANSWERS, 'answer.then((one) => proven(one, proverFor(proof)))', 'answer'],
  ['P3', PROOF, 'rest.length > 0 || ', ''],
  ['P4', RECORDER, 'status < 200) return undefined', 'status !== 200) return undefined'],
  [
    'P6',
    ANSWERS,
    'if (proof === undefined) return end;',
    "if (proof === undefined || typeof end === 'string') return end;",
  ],
  ['P6', ANSWERS, "body: '' }", 'body }'],
  [
    'P7',
    PROOF,
    '.verify(answerSigningInput(answer), signature)',
    ".verify(answerSigningInput({ ...answer, mediaType: 'application/json' }), signature)",
  ],
  [
    'P8',
    PROOF,
    'return admitPublicKey(publicKey).verify(answerSigningInput(answer), signature);',
    'return answerSigningInput(answer).length > 0;',
  ],
  [
    'P7',
    ORI,
    '{ call: digest, status, mediaType, body }, signature) ? undefined',
    '{ call: digest, status, mediaType, body }, signature) || true ? undefined',
  ],
  ['P7', ORI, 'const loss = await why(tally.end());', 'const loss = undefined;'],
  ['P7', ORI, "const isKept = answer.headers['ori-answer'] === 'kept';", 'const isKept = true;'],
  ['P7', ORI, "const isKept = answer.headers['ori-answer'] === 'kept';", 'const isKept = false;'],
  ['P7', ORI, 'reason === undefined ?', 'reason !== ALTERED ?'],
  ['P7', ORI, 'reason === undefined ?', 'reason !== UNPROVEN ?'],
  ['P7', ORI, 'if (signature === undefined || ', 'if (signature === undefined) return undefined;\n    if ('],
  [
    'P7',
    ORI,
    'if (!isGood(answer) && announced === undefined) {',
    "if (!isGood(answer)) return { ...whole, evidence: 'answered' };\n    if (false) {",
  ],
  ['P8', ORI, '|| !keys.includes(x)', ''],
  ['P8', ORI, 'keys = await renew();', 'keys = [...(await renew()), ...(announced ? [announced.x] : [])];'],
  ['N19', STORE, '[nonce, voidOf(nonce)];', '[nonce];'],
];

/** Why a mutant lives. */
export const SURVIVORS: Readonly<Record<string, string>> = {
  'B4 "little") >= L': 'OpenSSL refuses such an S itself',
  'K11 y >= P or encoded in SMALL_ORDER':
    'no encoding of a y from p + 2 to p + 18 is of prime order, so the next rule leaves it out',
};

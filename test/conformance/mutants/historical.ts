// biome-ignore-all lint/suspicious/noTemplateCurlyInString: source code, quoted

/** Real bugs of verifiers that earlier vectors missed: file, correct source, and the buggy source. */
const BUGS: Readonly<Record<string, readonly (readonly [sound: string, ...broken: string[]])[]>> = {
  'replay/replay-store.ts': [
    [
      'policy.maxAgeSeconds + policy.clockToleranceSeconds + STREAM_SECONDS_MAX',
      'policy.maxAgeSeconds',
      '62',
    ],
    ['policy.clockToleranceSeconds + STREAM_SECONDS_MAX', 'STREAM_SECONDS_MAX'],
  ],
  'replay/memory/store.ts': [
    [
      'timestamp <= ledger.floor || timestamp <= horizon',
      'timestamp <= horizon',
      'timestamp <= ledger.floor',
    ],
    [
      'entries -= ledger.forget(horizon);\n    if',
      'entries -= ledger.forget(Math.floor(seconds - policy.maxAgeSeconds));\n    if',
      'const before = ledger as { at?: number };\n    if (seconds < (before.at ?? 0)) ledgers.delete(policy.internId);\n    before.at = seconds;\n    if',
    ],
    [
      'nonce === undefined ? [fence, ledger.marksFrom ?? fence] : [fence]',
      '[fence, ledger.marksFrom ?? fence]',
      '[fence]',
    ],
    [
      'if (ledger.has(conflicting)) throw',
      'if (ledger.has(conflicting)) ledger.add(timestamp, recorded);\n    if (ledger.has(conflicting)) throw',
    ],
    [
      'if (entries + needed <= entriesMax) return;\n    for',
      'if (entries + needed <= 100) return;\n    for (const ledger of ledgers.values()) if (entries > 99) entries -= ledger.forget(ledger.highest);\n    return;\n    for',
    ],
    [
      'conflicting: [id, `m${id}`], recorded: [id]',
      'conflicting: [id], recorded: [id]',
      'conflicting: [`m${id}`], recorded: [id]',
      'conflicting: [id, `m${id}`], recorded: []',
    ],
    [
      'conflicting: [nonce, v1Id], recorded: [nonce, `m${v1Id}`]',
      'conflicting: [nonce], recorded: [nonce, `m${v1Id}`]',
      'conflicting: [nonce, v1Id], recorded: [nonce]',
      'conflicting: [nonce, v1Id, `m${v1Id}`], recorded: [nonce, `m${v1Id}`]',
      'conflicting: [nonce, v1Id], recorded: [`m${v1Id}`]',
    ],
    [
      'createdSeconds(created, wallMs, uptimeMs) + policy.clockToleranceSeconds',
      'createdSeconds(created, wallMs, uptimeMs) + 2',
      '(nonce === undefined ? 0 : createdSeconds(created, wallMs, uptimeMs) + policy.clockToleranceSeconds)',
    ],
    ['ledger.marksFrom ??= ledger.highest;\n    const', 'ledger.marksFrom ??= -1;\n    const'],
  ],
  'replay/memory/ledger.ts': [
    ['floor = Math.max(floor, timestamp);', ''],
    ['if (timestamp > horizon) continue;', 'if (timestamp > horizon && timestamp < horizon + 150) continue;'],
  ],
  'verifier.ts': [
    ['v1Id: () => sha256Hex(signingInputV1(claim))', 'v1Id: () => sha256Hex(claim.signature)'],
    ['requirePrompt(judgedAtMs, nowMs);', ''],
    [
      'requireTimely(presented.timestamp, nowMs, policy);',
      'requireTimely(presented.timestamp, Math.floor(nowMs / 1000) * 1000, policy);',
      '',
    ],
    ['requireVersion(presented, policy);', ''],
    ['requireCoverable(request, policy);', ''],
  ],
  'claim.ts': [
    ['const { nonce, signature } = v2;', 'const { nonce } = v2;\n  const { signature } = v1;'],
    ['if (v2 === undefined) {', 'if (v1 !== undefined) {'],
    [
      'method: PROOF_METHOD, path }',
      'method: PROOF_METHOD, path: path.replace(/%[0-9a-f]{2}/g, (e) => e.toUpperCase()) }',
      'method: PROOF_METHOD, path: decodeURI(path) }',
      "method: PROOF_METHOD, path: new URL(path, 'http://a').pathname }",
    ],
  ],
  'jwk-set.ts': [
    [
      "value === undefined || typeof value === 'number' ? value",
      "value === undefined || value === null ? undefined : typeof value === 'number' ? value",
      "typeof value !== 'boolean' && (value === undefined || typeof value === 'number') ? value : typeof value === 'boolean' ? undefined",
      "value === undefined || Number.isInteger(value) ? (value as number | undefined) : typeof value === 'number' ? undefined",
    ],
    ["(use === undefined || use === 'sig')", "use === 'sig'", "(use == null || use === 'sig')"],
    ["alg === 'EdDSA' || alg === 'Ed25519'", "alg === 'EdDSA'"],
    ["(operations === undefined || (Array.isArray(operations) && operations.includes('verify')))", 'true'],
    ["operations.includes('verify')", "operations.join() === 'verify'"],
    ["Array.isArray(operations) && operations.includes('verify')", "String(operations).includes('verify')"],
    ['jwk.kid !== undefined && jwk.kid !== key.kid', 'jwk.kid !== key.kid', 'jwk.kid && jwk.kid !== key.kid'],
    ["if ('d' in jwk)", 'if ((jwk as { d?: unknown }).d)'],
    ["crv === 'Ed25519' &&", ''],
    ["kty === 'OKP' &&", ''],
    ['base64url.decode(jwk.x, 32)', "new Uint8Array(Buffer.from(jwk.x, 'base64url'))"],
    ['if (admitted.has(key.kid)) throw', 'if (admitted.delete(key.kid)) throw'],
    ["if (admitted.has(key.kid)) throw new KeyError('key_repeated', 'the key is listed twice');", ''],
    ['JWK_SET_KEYS_MAX = 100', 'JWK_SET_KEYS_MAX = 10'],
    [
      "if (!isRecord(entry)) throw new KeyError('key_set_malformed', 'a key of the JWK Set is not an object');",
      'if (!isRecord(entry)) continue;',
    ],
  ],
  'fields.ts': [
    ['/^(?:0|[1-9][0-9]{0,11})$/', '/^(?:0|[1-9][0-9]{0,11})\\n?$/'],
    ['{1,255}$/', '{1,255}\\n?$/'],
    ['[\\x21-\\x2b\\x2d-\\x7e]{1,255}', '[\\n\\x21-\\x2b\\x2d-\\x7e]{1,255}'],
    ['{21}[AQgw]$/', '{22}$/', '{21}[AQgw]\\n?$/'],
  ],
  'signature.ts': [
    [
      'base64.decode(text, SIGNATURE_BYTES)',
      'base64.decode(text.trim(), SIGNATURE_BYTES)',
      "new Uint8Array(Buffer.from(text, 'base64'))",
    ],
  ],
  'headers.ts': [
    ["if (repeated) throw new ProofError('proof_malformed', 'a proof header occurs more than once');", ''],
    ['PROOF_HEADER.test(name)', "PROOF_HEADER.test(name.replaceAll('_', '-'))"],
  ],
  'requirements.ts': [
    ['if (mediaTypes !== 1)', 'if (mediaTypes === 0)'],
    ['(?:[ \\t]*;[ \\t]*charset=(?:utf-8|"utf-8"))?[ \\t]*$/i', '(?:[ \\t]*[;,].*)?$/i'],
    ['(?:utf-8|"utf-8")', '[^,]*', '(?:utf-?8|"utf-8")'],
    ['(?:utf-8|"utf-8"))?[ \\t]*$/i', '(?:utf-8|"utf-8"))?$/i', '(?:utf-8|"utf-8"))?\\s*$/i'],
    [
      'if (mediaTypes !== 1)',
      'if (new Set(rawHeaders.filter((_, i) => i % 2 === 0)).size * 2 < rawHeaders.length)',
    ],
    ['/^[ \\t]*identity[ \\t]*$/i', '/identity[ \\t]*$/i', '/^[ \\t]*identity/i', '/^\\s*identity\\s*$/i'],
    ['if (!IDENTITY.test(value))', 'if (index < rawHeaders.length - 2 && !IDENTITY.test(value))'],
  ],
  'small-order.ts': [
    ['signature.length === 64 && !isSmallOrderEncoding(signature) &&', 'signature.length === 64 &&'],
  ],
  'admission.ts': [
    ['if (isSmallOrderEncoding(publicKey))', 'if (false)'],
    ['!decodePoint(publicKey).isTorsionFree()', 'decodePoint(publicKey) === undefined'],
  ],
  'keys/local.ts': [
    ['holdsTimestamp(key, timestamp) &&', ''],
    ['for (const key of keys) {', 'for (const key of keys.slice(0, 5)) {'],
    ['candidates.push(key) === CANDIDATES_MAX', 'candidates.push(key) === 0'],
  ],
};

export const HISTORICAL: readonly { readonly file: string; readonly from: string; readonly to: string }[] =
  Object.entries(BUGS).flatMap(([file, bugs]) =>
    bugs.flatMap(([from, ...broken]) => broken.map((to) => ({ file, from, to }))),
  );

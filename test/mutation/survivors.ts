type Survivor = readonly [file: string, line: string, replacement: string | undefined, why: string];

const PROOF = 'libs/public/proof/src/';
const VERIFIER = 'libs/public/verifier/src/';
const OTHER_RUNTIMES = 'without a Buffer; tested on the runtimes that have none';
const LATER = 'what follows refuses it with the same code';

/**
 * Mutants that no test kills, each with the reason. A mutant is named by its file, a part of its line, and what it
 * puts in place of the original, or undefined for all mutants of that line.
 */
export const SURVIVORS: readonly Survivor[] = [
  [`${PROOF}admission.ts`, '{ cause }', '{}', 'the cause of an error'],
  [`${PROOF}ascii.ts`, 'NodeBuffer === undefined', undefined, 'both give the same bytes'],
  [`${PROOF}base64.ts`, 'value < 64', 'value <= 64', 'sets no character'],
  [`${PROOF}base64.ts`, 'NodeBuffer !== undefined', undefined, 'both give the same text'],
  [`${PROOF}base64.ts`, 'for (const byte of bytes)', '{}', OTHER_RUNTIMES],
  [`${PROOF}base64.ts`, 'for (bits += 8', undefined, OTHER_RUNTIMES],
  [`${PROOF}base64.ts`, 'bits -= 6', undefined, OTHER_RUNTIMES],
  [`${PROOF}base64.ts`, 'text += alphabet.charAt', undefined, OTHER_RUNTIMES],
  [`${PROOF}base64.ts`, 'return text + pad', undefined, OTHER_RUNTIMES],
  [`${PROOF}errors.ts`, 'if (retryAfterSeconds !== undefined)', 'true', 'a member that is undefined'],
  [
    `${PROOF}headers.ts`,
    'name === undefined || value === undefined',
    'false',
    'reading on throws a TypeError too',
  ],
  [`${PROOF}headers.ts`, 'NAME_LENGTHS[name.length] !== 1', 'false', 'no other name is read afterwards'],
  [`${PROOF}headers.ts`, 'const PROOF_HEADER =', undefined, 'no other name is read afterwards'],
  [`${PROOF}headers.ts`, 'signatureV2 === undefined || nonce === undefined', 'false', LATER],
  [`${PROOF}headers.ts`, 'is absent although', undefined, 'the message of an error'],
  [`${PROOF}jwk-set.ts`, 'error instanceof KeyError', 'false', 'nothing else is thrown there'],
  [`${PROOF}jwk-set.ts`, 'notBefore === undefined ? {}', 'false', 'a member that is undefined'],
  [`${PROOF}jwk-set.ts`, 'expiresAt === undefined ? {}', 'false', 'a member that is undefined'],
  [`${PROOF}jwk-set.ts`, "typeof value === 'number' ? value", 'true', LATER],
  [`${PROOF}rooted-set.ts`, 'newest !== undefined && isKnown', undefined, 'what is known is the newest'],
  [`${PROOF}rooted-set.ts`, '} catch {', '{}', LATER],
  [`${PROOF}rooted-set.ts`, 'malformed();', ';', LATER],
  [`${PROOF}rooted-set.ts`, 'admitted.size >= ADMITTED_MAX', undefined, 'only what is kept in memory'],
  [`${PROOF}rooted-set.ts`, 'admitted.set(name, key)', ';', 'only what is computed again'],
  [`${PROOF}rooted-set.ts`, 'if (!isTime(notBefore)', undefined, 'no such key is stated'],
  [`${PROOF}rooted-set.ts`, "typeof value === 'object'", 'true', LATER],
  [
    `${PROOF}rooted-set.ts`,
    "typeof value === 'number' && isTimestampSeconds",
    'true',
    'true for numbers only',
  ],
  [`${PROOF}signing.ts`, 'der.fill(0)', ';', 'the seed in freed memory'],
  [`${PROOF}signing.ts`, 'if (publicKey === undefined)', undefined, 'Node always derives it'],
  [`${PROOF}signing.ts`, 'if (used === randomness.length)', 'true', 'draws more often'],
  [`${PROOF}small-order.ts`, 'last !== 0x00', 'false', 'a shortcut'],
  [`${PROOF}small-order.ts`, 'last === y[31]', 'true', 'no two differ in the last byte alone'],
  [`${PROOF}small-order.ts`, 'return byte < limit', 'byte <= limit', 'they differ here'],
  [`${PROOF}small-order.ts`, 'hex.length / 2', undefined, 'only the first 32 bytes are compared'],
  [`${PROOF}verification-key.ts`, '=== undefined ? {}', 'false', 'a member that is undefined'],
  [`${PROOF}verification-key.ts`, 'expiresAt <= notBefore', undefined, 'undefined is below nothing'],
  [`${VERIFIER}claim.ts`, 'newer !== known', 'true', 'verifies again with the same keys'],
  [`${VERIFIER}outcome.ts`, '< WARNING_APART_MS', undefined, 'differs at one instant'],
  [`${VERIFIER}outcome.ts`, "outcome === 'accepted' ? {}", 'false', 'a member that is undefined'],
  [`${VERIFIER}outcome.ts`, 'error instanceof ProofError ||', 'true', 'no other error has a code here'],
  [`${VERIFIER}policy.ts`, 'keys?.current', 'keys.current', 'a TypeError too'],
  [`${VERIFIER}policy.ts`, 'replay?.spend', 'replay.spend', 'a TypeError too'],
  [`${VERIFIER}requirements.ts`, "typeof request !== 'object'", undefined, 'a TypeError too'],
  [`${VERIFIER}requirements.ts`, 'target === undefined', 'false', 'refused before'],
  [`${VERIFIER}requirements.ts`, 'index < rawHeaders.length', 'index <= rawHeaders.length', 'reads no name'],
  [`${VERIFIER}requirements.ts`, 'name?.length', 'name.length', 'each name is a text'],
  [`${VERIFIER}requirements.ts`, 'name?.length', 'true', 'a shortcut'],
  [`${VERIFIER}requirements.ts`, 'value !== policy.contentType &&', 'true', 'a shortcut'],
  [`${VERIFIER}requirements.ts`, 'MEDIA_TYPE.exec(value)?.[1]', undefined, 'the group is always there'],
  [`${VERIFIER}verifier.ts`, 'if (code !== undefined) report', 'true', 'every error there has a code'],
  [`${VERIFIER}verifier.ts`, "code === 'keys_unavailable'", undefined, 'the message of an error'],
  [`${VERIFIER}warning.ts`, 'globalThis.process?.emitWarning', undefined, OTHER_RUNTIMES],
  [`${VERIFIER}warning.ts`, '.replaceAll', '/[\\p{Cc}\\u2028\\u2029]/gu', 'one space more'],
];

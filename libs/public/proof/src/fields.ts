/** The only method a proof covers (SPEC.md, section 1). */
export const PROOF_METHOD = 'POST';
/** Longest path, the leading `/` included. */
export const PATH_CHARACTERS_MAX = 2048;
/** Largest timestamp in Unix seconds: twelve digits. */
export const TIMESTAMP_MAX = 999_999_999_999;

const INTERN_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
const TIMESTAMP = /^(?:0|[1-9][0-9]{0,11})$/;
const USER = /^[\x21-\x2b\x2d-\x7e]{1,255}$/;
const BODY_SHA256 = /^[0-9a-f]{64}$/;
const NONCE = /^[A-Za-z0-9_-]{21}[AQgw]$/;
const PATH = /^\/[\x21\x22\x24-\x3e\x40-\x7e]{0,2047}$/;

/** 1 to 128 of `A-Z a-z 0-9 _ -`, the first a letter or a digit. */
export function isInternId(text: string): boolean {
  return INTERN_ID.test(text);
}

/** Unix seconds in decimal digits, no sign, no leading zero, at most twelve digits. */
export function isTimestamp(text: string): boolean {
  return TIMESTAMP.test(text);
}

/** A whole number of Unix seconds that `isTimestamp` accepts when written in decimal. */
export function isTimestampSeconds(seconds: number): boolean {
  return Number.isInteger(seconds) && seconds >= 0 && seconds <= TIMESTAMP_MAX;
}

/** 1 to 255 printable ASCII characters, neither space nor comma. */
export function isUser(text: string): boolean {
  return USER.test(text);
}

/** SHA-256 in 64 lower-case hex digits. */
export function isBodySha256(text: string): boolean {
  return BODY_SHA256.test(text);
}

/** 16 bytes in base64url without padding: 22 characters, the last one of `AQgw`. */
export function isNonce(text: string): boolean {
  return NONCE.test(text);
}

/** Exactly `POST`: methods are case-sensitive. */
export function isMethod(text: string): text is typeof PROOF_METHOD {
  return text === PROOF_METHOD;
}

/** `/`, then 0 to 2047 printable ASCII characters, none of them space, `#` or `?`. Not decoded. */
export function isPath(text: string): boolean {
  return PATH.test(text);
}

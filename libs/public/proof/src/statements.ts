import { asciiBytes } from './ascii.ts';
import { base64url } from './base64.ts';
import { isBodySha256, isInternId, isTimestampSeconds } from './fields.ts';

/** What a delegation trusts a key to do: delegate, state keys, or state whole sets. */
export const ROLES = ['root', 'keys', 'freshness'] as const;
export type Role = (typeof ROLES)[number];

/** The deployment that a statement is for. */
export interface Deployment {
  /** The public base address, ending in its version segment, exactly as the signer is configured with it. */
  baseUrl: string;
}

/** A root's statement that a key has a role in a deployment. */
export interface Delegation extends Deployment {
  role: Role;
  publicKey: Uint8Array;
  /** Unix seconds, inclusive. */
  notBefore: number;
  /** Unix seconds, exclusive. */
  expiresAt: number;
}

/** A statement by a `keys` role that an intern has a key. */
export interface KeyStatement extends Deployment {
  internId: string;
  publicKey: Uint8Array;
  notBefore: number;
  expiresAt: number | null;
}

/** A statement by a `keys` role that an intern's daemon proves its answers with a key. */
export type AnswerKeyStatement = Pick<KeyStatement, 'baseUrl' | 'internId' | 'publicKey'>;

/** A statement by a `freshness` role that a document was the intern's key set at a time. */
export interface SetStatement extends Deployment {
  internId: string;
  /** Unix milliseconds. */
  at: number;
  /** SHA-256 of the document's bytes, 64 lower-case hex digits. */
  sha256: string;
}

const ADDRESS = /^[\x21-\x7e]{1,2048}$/;
const MILLISECONDS_MAX = 999_999_999_999_999;

/** The bytes that a root signs (ROOTED-KEY-SETS.md). @throws {TypeError} if a field is outside its alphabet */
export function delegationInput(delegation: Delegation): Uint8Array {
  const { role, publicKey, notBefore, expiresAt } = delegation;
  const fields = [role, base64url.encode(publicKey), seconds(notBefore), seconds(expiresAt)];
  return netstrings('ori-delegation-v1', delegation, fields);
}

/** The bytes that a `keys` role signs. @throws {TypeError} */
export function keyStatementInput(statement: KeyStatement): Uint8Array {
  const { publicKey, notBefore, expiresAt } = statement;
  const ends = expiresAt === null ? '' : seconds(expiresAt);
  const fields = [intern(statement), base64url.encode(publicKey), seconds(notBefore), ends];
  return netstrings('ori-key-v1', statement, fields);
}

/** The bytes that a `keys` role signs about an answer key. @throws {TypeError} */
export function answerKeyStatementInput(statement: AnswerKeyStatement): Uint8Array {
  const fields = [intern(statement), base64url.encode(statement.publicKey)];
  return netstrings('ori-answer-key-v1', statement, fields);
}

/** The bytes that a `freshness` role signs. @throws {TypeError} */
export function setStatementInput(statement: SetStatement): Uint8Array {
  const { at, sha256 } = statement;
  if (!(Number.isInteger(at) && at >= 0 && at <= MILLISECONDS_MAX))
    throw new TypeError('at is not whole Unix milliseconds');
  if (!isBodySha256(sha256)) throw new TypeError('sha256 is not 64 lower-case hex digits');
  return netstrings('ori-key-set-v1', statement, [intern(statement), String(at), sha256]);
}

function intern({ internId }: { internId: string }): string {
  if (!isInternId(internId)) throw new TypeError('internId is outside its alphabet');
  return internId;
}

function seconds(time: number): string {
  if (!isTimestampSeconds(time)) throw new TypeError('a time is not whole Unix seconds');
  return String(time);
}

function netstrings(name: string, { baseUrl }: Deployment, fields: readonly string[]): Uint8Array {
  if (!ADDRESS.test(baseUrl)) throw new TypeError('baseUrl is outside its alphabet');
  return asciiBytes([name, baseUrl, ...fields].map((field) => `${field.length}:${field},`).join(''));
}

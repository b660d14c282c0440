import { CliError } from '../core/errors.ts';
import { parseSession, type Session } from '../core/session.ts';
import { type Keeping, readKept, type SecretPlace, type Stored, writeKept } from './kept-secret.ts';

/** Where a profile has its session. */
export interface SessionPlace extends SecretPlace {
  readonly profile: string;
  readonly lock: string;
  /** For the key that the session is bound to; in a folder separate from the tokens. */
  readonly keyFile: string;
}

/** The stored session, or undefined if there is none. Throws as `readKept`. */
export async function readSession(
  place: SessionPlace,
  options?: { trusting?: boolean },
): Promise<Session | undefined> {
  const text = await readKept(place, options);
  if (text === undefined) return undefined;
  const session = parseSession(text);
  if (session === undefined) throw new CliError('session_file_damaged', { file: place.file });
  return session;
}

/** Throws as `writeKept`. */
export function writeSession(place: SessionPlace, session: Session, keeping?: Keeping): Promise<Stored> {
  return writeKept(place, `${JSON.stringify(session, null, 2)}\n`, keeping);
}

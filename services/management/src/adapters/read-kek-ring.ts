import { readFileSync } from 'node:fs';
import { ConfigError } from '@ori/service-kit/config';
import { type KekRing, parseKekRing, SealingError } from '@ori/store/sealing';

/** Reads the ring of key-encryption keys. @throws ConfigError under the variable's name, which quotes nothing of the file */
export function readKekRing(path: string, variable = 'MANAGEMENT_KEK_FILE'): KekRing {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new ConfigError([`${variable}: cannot read ${JSON.stringify(path)} (${code})`]);
  }
  try {
    return parseKekRing(text);
  } catch (error) {
    if (!(error instanceof SealingError)) throw error;
    throw new ConfigError(error.complaints.map((complaint) => `${variable}: ${complaint}`));
  }
}

import type { Profile } from '../session/profile.ts';
import { changeTrust, readTrust } from '../session/trust.ts';
import type { DaemonAnswer } from './daemon-answer.ts';
import { showsKeeper } from './evidence.ts';

/** Whether a daemon keeps answers, as this profile has seen it. */
export interface Keeper {
  isKnown(): boolean;
  /** Remembers it if an answer shows it. */
  learn(answer: DaemonAnswer): Promise<void>;
}

/** Throws the errors of `readTrust`. */
export async function openKeeper(profile: Profile, baseUrl: string, { origin }: URL): Promise<Keeper> {
  const { keepers = [] } = await readTrust(profile, baseUrl);
  let isKnown = keepers.includes(origin);
  return {
    isKnown: () => isKnown,
    async learn(answer) {
      if (isKnown || !showsKeeper(answer)) return;
      isKnown = true;
      // Where it cannot be stored, this process knows it.
      await changeTrust(profile, baseUrl, ({ keepers: before = [] }) => ({
        keepers: [...new Set([...before, origin])],
      })).catch(() => undefined);
    },
  };
}

import { answer } from '../../env/worker.ts';
import { type Addresses, attack, type Target } from './attacks.ts';

export interface Assault {
  readonly name: string;
  readonly target: Target;
  readonly addresses: Addresses;
  readonly ms: number;
}

/** A separate process, so that it slows the measured processes only by loading the machine. */
answer<Assault>(async ({ name, target, addresses, ms }) => {
  await attack(name, target, addresses, ms);
  return 'done';
});

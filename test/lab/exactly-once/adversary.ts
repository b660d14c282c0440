import type { Presentation } from './history.ts';
import { createPool, type Form, type Pool, type Proof } from './proofs.ts';
import type { Random } from './random.ts';

/** When version 1 copies are presented: after the whole proof, before it, or never. */
export type Stripping = 'off' | 'after' | 'before';

export interface Presenting {
  readonly proof: Proof;
  readonly form: Form;
  readonly kind: Presentation['kind'];
}

export interface Adversary {
  readonly pool: Pool;
  stripping: Stripping;
  /** Records a proof signed by any party. */
  hear(proof: Proof): void;
  /** Remembers a proof that was accepted from this party. Only copies of such proofs can be accepted twice. */
  accepted(proof: Proof): void;
  /** Remembers a proof whose answer was lost: it may have been spent and must not be accepted twice. */
  unanswered(proof: Proof): void;
  /** The next presentation: usually a copy that is likely to be accepted at this moment. */
  next(nowSeconds: number): Presenting | undefined;
  /** Called when a fault begins or ends. Queues recent proofs: accepted and unanswered ones first, then the newest. */
  worstMoment(): void;
}

const RECORDED_MAX = 8192;
const AT_WORST = 400;
/** One in this many proofs is kept for minutes. */
const ELDER_EVERY = 16;

/**
 * Records the proofs of all parties and replays each many times: the newest, to race its first presentation; those that were
 * accepted or whose answers were lost; those from before a fault, as soon as it is over; old ones that a wrong clock or a long
 * maximum age makes timely; and copies without their version 2 headers.
 */
export function createAdversary(random: Random, maxAgeSeconds: number): Adversary {
  const pool = createPool(RECORDED_MAX);
  const lost = createPool(512);
  const won = createPool(512);
  const elders = createPool(1024);
  let heard = 0;
  let urgent: Proof[] = [];

  function choose(nowSeconds: number): Proof | undefined {
    const proof = urgent.pop();
    if (proof) return proof;
    const turn = random.next();
    if (turn < 0.35) return pool.newest();
    if (turn < 0.5) return pool.recent(random, 200);
    if (turn < 0.65) return won.recent(random, 200) ?? pool.newest();
    if (turn < 0.75) return lost.recent(random, 512) ?? pool.newest();
    return (turn < 0.88 ? elders : pool).timely(random, nowSeconds, maxAgeSeconds);
  }

  const adversary: Adversary = {
    pool,
    stripping: 'off',
    hear(proof) {
      pool.add(proof);
      if (heard++ % ELDER_EVERY === 0) elders.add(proof);
    },
    accepted: won.add,
    unanswered: lost.add,
    next(nowSeconds) {
      const proof = choose(nowSeconds);
      if (!proof) return undefined;
      const strips = adversary.stripping === 'off' ? 0 : 0.5;
      return random.chance(strips)
        ? { proof, form: 'stripped', kind: 'stripped' }
        : { proof, form: 'whole', kind: 'replay' };
    },
    worstMoment() {
      // Shuffled: a store that is not ready yet may waste the first ones, so each adversary must start with different ones.
      urgent = [...pool.last(AT_WORST).reverse(), ...random.shuffle([...won.last(200), ...lost.last(100)])];
    },
  };
  return adversary;
}

import { type Configuration, RETENTION, TOLERANCE } from './configuration.ts';
import { type SpentSet, withIds } from './state.ts';

/** What scripts see of the server on which they run. */
export interface Inside {
  readonly now: number;
  readonly replicationId: number;
  readonly isPrimary: boolean;
  readonly freshReplicas: number;
  readonly replicasMin: number;
  readonly evicts: boolean;
}

export interface Asked {
  readonly verifierNow: number;
  readonly newest: number;
  readonly checksPolicy: boolean;
}

export interface SpendAsked extends Asked {
  readonly at: number;
  readonly v1Id: string;
  readonly nonce: number | undefined;
  /** Redeeming: whether the reservation exists and matches what was signed. */
  readonly isReserved: boolean;
  /** The script ends after its first write. */
  readonly cutShort: boolean;
}

/** `fence` is absent from the answer of an unsafe server. */
export interface Answer {
  readonly set: SpentSet;
  readonly verdict: string;
  readonly fence?: number;
}

/** The smallest difference between two fences. */
const LATER = 0.001;

/** The beginning of every script: checks the server, updates the fence. */
function open(configuration: Configuration, inside: Inside, set: SpentSet, asked: Asked): Answer {
  const { broken } = configuration;
  const unsafe = { set, verdict: 'replay_store_unsafe' };
  if (!inside.isPrimary) return unsafe;
  if (inside.freshReplicas < inside.replicasMin && !broken.has('replicas-not-required')) return unsafe;
  if (asked.checksPolicy && inside.evicts && !broken.has('policy-not-checked')) return unsafe;
  const apart = Math.abs(inside.now - asked.verifierNow);
  if (apart > TOLERANCE && !broken.has('clocks-not-compared')) return unsafe;
  const latest = Math.max(inside.now, asked.verifierNow);
  const name = broken.has('fence-of-any-server') ? 0 : inside.replicationId;
  const { fence } = set;
  const isOld = fence !== undefined && fence.at < asked.newest && !broken.has('newest-fence-ignored');
  const isCurrent = fence?.name === name && !isOld && !broken.has('fence-at-every-look');
  if (broken.has('no-fence') || isCurrent) {
    return { set, verdict: 'opened', fence: fence?.at ?? -99 };
  }
  const at = Math.max(latest, later(asked.newest), fence ? later(fence.at) : -99);
  return { set: { ...set, fence: { name, at } }, verdict: 'opened', fence: at };
}

function later(fence: number): number {
  return Math.round((fence + LATER) * 1000) / 1000;
}

export function touch(
  configuration: Configuration,
  inside: Inside,
  set: SpentSet,
  asked: Asked & { readonly acceptV1: boolean },
): Answer {
  const opened = open(configuration, inside, set, asked);
  if (opened.verdict !== 'opened') return opened;
  const latest = Math.max(inside.now, asked.verifierNow);
  const marked = asked.acceptV1 ? marking(configuration, opened.set, latest) : opened.set;
  return { ...opened, set: forgetting(configuration, marked, inside.now - RETENTION).set };
}

/** Raises the floor to the latest of the ids that are forgotten, and then deletes these. */
function forgetting({ broken }: Configuration, set: SpentSet, horizon: number) {
  const kept = Object.entries(set.ids).filter(([, timestamp]) => timestamp > horizon);
  const forgotten = Object.values(set.ids).filter((timestamp) => timestamp <= horizon);
  const floor = broken.has('no-floor') ? set.floor : Math.max(set.floor, ...forgotten);
  const raised = { ...set, floor };
  const deleted = { ...set, ids: Object.fromEntries(kept) };
  const isDue = forgotten.length > 0;
  return { isDue, raised, deleted, set: isDue ? { ...raised, ids: deleted.ids } : set };
}

/** Starts to record version 1 ids. */
function marking({ broken }: Configuration, set: SpentSet, latest: number): SpentSet {
  if (set.v1From !== undefined) return set;
  return {
    ...set,
    v1From: broken.has('v1-mark-without-fence') ? -99 : Math.max(latest, ...Object.values(set.ids)),
  };
}

export function spend(
  configuration: Configuration,
  inside: Inside,
  old: SpentSet,
  asked: SpendAsked,
): Answer {
  const { broken } = configuration;
  const opened = open(configuration, inside, old, asked);
  if (opened.verdict !== 'opened') return opened;
  const { at, v1Id, nonce } = asked;
  const say = (set: SpentSet, verdict: string): Answer => ({ ...opened, set, verdict });
  let { set } = opened;

  if (at > inside.now + TOLERANCE) return say(set, 'proof_not_yet_valid');
  const horizon = inside.now - RETENTION;
  if (at <= horizon || at <= set.floor) return say(set, 'proof_expired');
  const margin = broken.has('fence-without-tolerance') ? 0 : TOLERANCE;
  if (at <= (opened.fence ?? 0) + margin) return say(set, 'proof_before_fence');
  if (!asked.isReserved && !broken.has('redeemed-unreserved')) return say(set, 'nonce_not_issued');

  const { isDue, raised, deleted, set: left } = forgetting(configuration, set, horizon);
  if (asked.cutShort && !isDue) return say(old, 'cut short');
  if (asked.cutShort) return say(broken.has('floor-after-delete') ? deleted : raised, 'cut short');
  set = left;
  return nonce === undefined ? spendV1() : spendV2(`2${nonce}`);

  function spendV2(id: string): Answer {
    const isMarking = set.v1From !== undefined;
    const ignoresV1 = broken.has('v2-not-burned-with-v1');
    if (isMarking && `1${v1Id}` in set.ids && !ignoresV1) return say(set, 'nonce_replayed');
    if (id in set.ids) return say(set, 'nonce_replayed');
    const marks = isMarking && !broken.has('v1-not-burned-with-v2') ? [id, `m${v1Id}`] : [id];
    return say({ ...set, ids: withIds(set.ids, marks, at) }, 'accepted');
  }

  function spendV1(): Answer {
    set = marking(configuration, set, Math.max(inside.now, asked.verifierNow));
    if (at <= (set.v1From ?? 0) + TOLERANCE) return say(set, 'proof_before_fence');
    if (`m${v1Id}` in set.ids || `1${v1Id}` in set.ids) return say(set, 'nonce_replayed');
    const ids = broken.has('v1-not-spent') ? [] : [`1${v1Id}`];
    return say({ ...set, ids: withIds(set.ids, ids, at) }, 'accepted');
  }
}

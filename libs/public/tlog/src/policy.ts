import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';
import { verifyCosignature, verifyLogSignature } from './cosignature.ts';
import { isBy, NOTE_TYPES, type NoteKey, type NoteType, parseNote, parseVkey } from './note.ts';
import { TlogError } from './tlog-error.ts';

/** The witness of a policy by this name is the log's own: its cosignature says up to when the tree is complete. */
export const COMPLETE = 'complete';

/** Which logs are trusted, and how many of which witnesses must have cosigned (c2sp.org/tlog-policy). */
export interface Policy {
  readonly logs: readonly PolicyLog[];
  /** By their names in the policy. */
  readonly witnesses: ReadonlyMap<string, PolicyWitness>;
  /** Whether the witnesses with these names are enough. */
  isQuorum(names: ReadonlySet<string>): boolean;
  /**
   * A log or witness counts only if keys of all types that the policy has for its key name have signed, those of a log with
   * ML-DSA-44 among them. An attacker who can forge only one type cannot forge a checkpoint.
   */
  readonly requireMlDsa?: boolean;
}

export interface PolicyLog {
  readonly key: NoteKey;
  readonly url: string | undefined;
}

export interface PolicyWitness {
  readonly key: NoteKey;
  /** The submission prefix. */
  readonly url: string | undefined;
}

/** A checkpoint that a policy accepts. */
export interface TrustedCheckpoint extends Checkpoint {
  /** The signed note as received. */
  readonly note: string;
  /** When each witness of the policy cosigned, Unix seconds. */
  readonly witnessed: ReadonlyMap<string, number>;
}

/**
 * Checks that a checkpoint is signed by a log of the policy whose name is its origin, that no known signature is bad, and
 * that the quorum has cosigned.
 *
 * @throws TlogError `malformed`, `signature_invalid`, `quorum_missing`
 */
export function requireTrusted(note: string, policy: Policy): TrustedCheckpoint {
  const { text, signatures } = parseNote(note);
  const checkpoint = parseCheckpoint(text);
  const logs = policy.logs.map(({ key }) => key);
  const witnesses = [...policy.witnesses.values()].map(({ key }) => key);
  /** When each key signed; a log's time says nothing. */
  const signed = new Map<NoteKey, number>();
  for (const signature of signatures) {
    for (const key of logs.filter((key) => isBy(key, signature))) {
      if (!verifyLogSignature(text, signature, key)) throw badSignature(signature.name);
      signed.set(key, 0);
    }
    for (const key of witnesses.filter((key) => isBy(key, signature))) {
      const timestamp = verifyCosignature(text, signature, key);
      if (timestamp === undefined) throw badSignature(signature.name);
      // 0 is that of a subtree, and no statement about the log's latest tree (tlog-witness, sign-subtree).
      if (timestamp > 0) signed.set(key, Math.max(timestamp, signed.get(key) ?? 0));
    }
  }
  /** The time from which a key counts, the earliest of the required signatures; undefined if it does not count. */
  const countsSince = (key: NoteKey, keys: readonly NoteKey[], needed: readonly NoteType[] = []) => {
    if (!policy.requireMlDsa) return signed.get(key);
    const same = keys.filter(({ name }) => name === key.name);
    const types = new Set([...needed, ...same.map(({ type }) => type)]);
    const times = [...types].map((type) =>
      Math.max(...same.filter((one) => one.type === type).map((one) => signed.get(one) ?? -1)),
    );
    return signed.has(key) && times.every((time) => time >= 0) ? Math.min(...times) : undefined;
  };
  if (
    !logs.some(
      (key) => key.name === checkpoint.origin && countsSince(key, logs, [NOTE_TYPES.mlDsa44]) !== undefined,
    )
  ) {
    const how = policy.requireMlDsa ? ' with ML-DSA-44 and all its other types of keys' : '';
    throw new TlogError('signature_invalid', `no log of the policy has signed this checkpoint${how}`);
  }
  const witnessed = new Map<string, number>();
  for (const [name, { key }] of policy.witnesses) {
    const time = countsSince(key, witnesses);
    if (time !== undefined) witnessed.set(name, time);
  }
  if (!policy.isQuorum(new Set(witnessed.keys()))) {
    throw new TlogError('quorum_missing', 'too few witnesses have cosigned this checkpoint');
  }
  return { ...checkpoint, note, witnessed };
}

/**
 * Reads a policy file.
 *
 * @throws TlogError `malformed`, with the number of the line
 */
export function parsePolicy(text: string, options: Pick<Policy, 'requireMlDsa'> = {}): Policy {
  const logs: PolicyLog[] = [];
  const witnesses = new Map<string, PolicyWitness>();
  const rules = new Map<string, Rule>([['none', () => true]]);
  const keys = new Set<string>();
  const members = new Set<string>();
  let quorum: Rule | undefined;

  function define(name: string, rule: Rule): void {
    if (rules.has(name)) throw new Error(`${name} is defined twice`);
    rules.set(name, rule);
  }
  function unique(vkey: string | undefined, kind: string, type: NoteType): NoteKey {
    const key = parseVkey(vkey ?? '');
    const bytes = `${kind} ${Buffer.from(key.publicKey).toString('hex')}`;
    if ((key.type !== type && key.type !== NOTE_TYPES.mlDsa44) || keys.has(bytes))
      throw new Error('the key is of another type, or given twice');
    keys.add(bytes);
    return key;
  }
  function ruleOf(name: string | undefined): Rule {
    const rule = rules.get(name ?? '');
    if (rule === undefined) throw new Error(`${name} is not defined above`);
    return rule;
  }
  function take([keyword, ...words]: readonly string[]): void {
    switch (keyword) {
      case 'log':
        if (words.length > 2) throw new Error('expected: log <vkey> [<url>]');
        logs.push({ key: unique(words[0], 'log', NOTE_TYPES.ed25519), url: words[1] });
        return;
      case 'witness': {
        const [name = '', vkey, url] = words;
        if (words.length > 3) throw new Error('expected: witness <name> <vkey> [<url>]');
        const key = unique(vkey, 'witness', NOTE_TYPES.cosignatureV1);
        define(name, (names) => names.has(name));
        witnesses.set(name, { key, url });
        return;
      }
      case 'group': {
        const [name = '', count = '', ...names] = words;
        const rules = names.map((member) => {
          if (member === 'none' || members.has(member)) throw new Error(`${member} cannot be a member here`);
          members.add(member);
          return ruleOf(member);
        });
        const needed = thresholdOf(count, names.length);
        define(name, (witnessed) => rules.filter((rule) => rule(witnessed)).length >= needed);
        return;
      }
      case 'quorum':
        if (words.length !== 1 || quorum !== undefined) throw new Error('expected one line: quorum <name>');
        quorum = ruleOf(words[0]);
        return;
      default:
        throw new Error(`unknown keyword ${JSON.stringify(keyword)}`);
    }
  }

  for (const [index, line] of text.split('\n').entries()) {
    const words = line.split(/[ \t]/).filter((word) => word !== '');
    const [first] = words;
    if (first === undefined || first.startsWith('#')) continue;
    try {
      take(words);
    } catch (error) {
      const why = error instanceof Error ? error.message : 'unusable';
      throw new TlogError('malformed', `policy, line ${index + 1}: ${why}`);
    }
  }
  if (quorum === undefined) throw new TlogError('malformed', 'policy: no quorum line');
  return { ...options, logs, witnesses, isQuorum: quorum };
}

type Rule = (witnessed: ReadonlySet<string>) => boolean;

function thresholdOf(count: string, members: number): number {
  const named = new Map([
    ['any', 1],
    ['all', members],
  ]);
  const needed = named.get(count) ?? (/^[0-9]+$/.test(count) ? Number(count) : 0);
  if (needed < 1 || needed > members) {
    throw new Error('expected: group <name> all|any|<k> <name>…');
  }
  return needed;
}

function badSignature(name: string): TlogError {
  return new TlogError('signature_invalid', `the signature by ${name} is not over this checkpoint`);
}

import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';
import { verifyCosignature } from './cosignature.ts';
import { isBy, NOTE_TYPES, type NoteKey, parseNote, parseVkey, verifyNoteSignature } from './note.ts';
import { TlogError } from './tlog-error.ts';

/** Which logs are trusted, and how many of which witnesses must have cosigned (c2sp.org/tlog-policy). */
export interface Policy {
  readonly logs: readonly PolicyLog[];
  /** By their names in the policy. */
  readonly witnesses: ReadonlyMap<string, PolicyWitness>;
  /** Whether the witnesses with these names are enough. */
  isQuorum(names: ReadonlySet<string>): boolean;
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
  /** The signed note as it came. */
  readonly note: string;
  /** When each witness of the policy cosigned, Unix seconds. */
  readonly witnessed: ReadonlyMap<string, number>;
}

/**
 * Judges a checkpoint: it is signed by a log of the policy whose name is its origin, no known signature is bad, and the
 * quorum has cosigned.
 *
 * @throws TlogError `malformed`, `signature_invalid`, `quorum_missing`
 */
export function requireTrusted(note: string, policy: Policy): TrustedCheckpoint {
  const { text, signatures } = parseNote(note);
  const checkpoint = parseCheckpoint(text);
  let signed = false;
  const witnessed = new Map<string, number>();
  for (const signature of signatures) {
    const log = policy.logs.find(({ key }) => isBy(key, signature));
    if (log !== undefined) {
      if (!verifyNoteSignature(text, signature, log.key)) throw badSignature(signature.name);
      if (log.key.name === checkpoint.origin) signed = true;
    }
    for (const [name, { key }] of policy.witnesses) {
      if (!isBy(key, signature)) continue;
      const timestamp = verifyCosignature(text, signature, key);
      if (timestamp === undefined) throw badSignature(signature.name);
      witnessed.set(name, Math.max(timestamp, witnessed.get(name) ?? 0));
    }
  }
  if (!signed) throw new TlogError('signature_invalid', 'no log of the policy has signed this checkpoint');
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
export function parsePolicy(text: string): Policy {
  const logs: PolicyLog[] = [];
  const witnesses = new Map<string, PolicyWitness>();
  const rules = new Map<string, Rule>([['none', () => true]]);
  const keys = new Set<string>();
  const members = new Set<string>();
  let quorum: Rule | undefined;

  function define(name: string | undefined, rule: Rule): void {
    if (name === undefined || rules.has(name)) throw new Error(`${name} is defined twice`);
    rules.set(name, rule);
  }
  function unique(vkey: string | undefined, kind: string, type: number): NoteKey {
    const key = parseVkey(vkey ?? '');
    const bytes = `${kind} ${Buffer.from(key.publicKey).toString('hex')}`;
    if (key.type !== type || keys.has(bytes)) throw new Error('the key is of another type, or given twice');
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
        if (words.length < 1 || words.length > 2) throw new Error('expected: log <vkey> [<url>]');
        logs.push({ key: unique(words[0], 'log', NOTE_TYPES.ed25519), url: words[1] });
        return;
      case 'witness': {
        const [name = '', vkey, url] = words;
        if (words.length < 2 || words.length > 3) throw new Error('expected: witness <name> <vkey> [<url>]');
        const key = unique(vkey, 'witness', NOTE_TYPES.cosignatureV1);
        define(name, (names) => names.has(name));
        witnesses.set(name, { key, url });
        return;
      }
      case 'group': {
        const [name, count, ...names] = words;
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
    const words = line.split(/[ \t]+/).filter((word) => word !== '');
    if (words.length === 0 || words[0]?.startsWith('#')) continue;
    try {
      take(words);
    } catch (error) {
      const why = error instanceof Error ? error.message : 'unusable';
      throw new TlogError('malformed', `policy, line ${index + 1}: ${why}`);
    }
  }
  if (quorum === undefined) throw new TlogError('malformed', 'policy: no quorum line');
  return { logs, witnesses, isQuorum: quorum };
}

type Rule = (witnessed: ReadonlySet<string>) => boolean;

function thresholdOf(count: string | undefined, members: number): number {
  const needed = count === 'any' ? 1 : count === 'all' ? members : Number(count);
  if (members < 1 || !Number.isInteger(needed) || needed < 1 || needed > members) {
    throw new Error('expected: group <name> all|any|<k> <name>…');
  }
  return needed;
}

function badSignature(name: string): TlogError {
  return new TlogError('signature_invalid', `the signature by ${name} is not over this checkpoint`);
}

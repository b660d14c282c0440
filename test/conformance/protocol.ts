import type { At, VerifierConfiguration as Configuration, Head } from '../vectors/scenario.ts';

/** A command of the harness, one JSON object per line. README.md describes the members. */
export type Command =
  | { do: 'hello' }
  | { do: 'start'; verifier: Configuration; storeSince: number; storeEntriesMax?: number; jwks: unknown }
  | { do: 'keys'; jwks: unknown }
  | { do: 'verifier'; verifier: Configuration }
  | ({ do: 'restart' } & At)
  | ({ do: 'present' } & At & RequestCommand)
  | ({ do: 'race'; requests: RequestCommand[] } & At)
  | ({ do: 'begin'; request: string } & At & Head)
  | ({ do: 'answer'; nonce: string; status: number; rawHeaders: string[]; bodyBase64: string } & At)
  | { do: 'body'; request: string; bodyBase64: string }
  | ({ do: 'finish'; request: string; bodyBase64: string } & At);

export type { Configuration };

export interface RequestCommand extends Head {
  bodyBase64: string;
}

export interface Verdict {
  verdict: string;
  proof?: { user: string; internId: string; version: 1 | 2; issuedAt: number; nonce?: string };
  retryAfterSeconds?: number;
  /** With `kept`. Names are in lower case; null, expected only: the header is absent. */
  answer?: { status: number; headers: Record<string, string | null>; bodyBase64: string };
  /** For a race: the verdicts in the order of its requests. */
  verdicts?: Verdict[];
  /** Only in the answer to `hello`. */
  name?: string;
  features?: string[];
}

/** One scenario of verdicts.json: test/vectors/README.md. */
export interface Scenario {
  title: string;
  section: string;
  sentences: string[];
  needs?: string[];
  verifier: Configuration;
  storeSince: number;
  storeEntriesMax?: number;
  jwks: unknown;
  expect: string;
  steps: Step[];
}

export type Step = Command & { expect: string } & Omit<Expected, 'verdict'>;

/** `retryAfterSeconds` and `proof` are compared only if present here. */
export interface Expected extends Verdict {
  /** Other acceptable verdicts. */
  or?: string | readonly string[];
}

/** A command and its required answer. */
export interface Exchange {
  command: Command;
  expected: Expected;
}

export function exchangesOf({
  verifier,
  storeSince,
  storeEntriesMax,
  jwks,
  expect,
  steps,
}: Scenario): Exchange[] {
  const store = { storeSince, ...(storeEntriesMax !== undefined && { storeEntriesMax }) };
  return [
    { command: { do: 'start', verifier, ...store, jwks }, expected: { verdict: expect } },
    ...steps.map(({ expect: verdict, or, proof, answer, retryAfterSeconds, ...rest }) => {
      const { signingInput: _, ...command } = rest as Command & { signingInput?: string };
      return {
        command,
        expected: {
          verdict,
          ...(or === undefined ? {} : { or }),
          ...(proof === undefined ? {} : { proof }),
          ...(answer === undefined ? {} : { answer }),
          ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
        },
      };
    }),
  ];
}

/** The same request, with its body in pieces of this many bytes. */
export function inPieces({ command, expected }: Exchange, bytes: number): Exchange[] {
  if (command.do !== 'present') return [{ command, expected }];
  const { do: _, bodyBase64, now, storeNow, method, target, rawHeaders } = command;
  const at = storeNow === undefined ? { now } : { now, storeNow };
  const body = Buffer.from(bodyBase64, 'base64');
  const request = 'in pieces';
  const pieces: Exchange[] = [];
  for (let start = 0; start < body.length; start += bytes) {
    pieces.push({
      command: { do: 'body', request, bodyBase64: body.subarray(start, start + bytes).toString('base64') },
      expected: { verdict: 'continue' },
    });
  }
  return [
    {
      command: { do: 'begin', request, ...at, method, target, rawHeaders },
      expected: { verdict: 'continue' },
    },
    ...pieces,
    { command: { do: 'finish', request, ...at, bodyBase64: '' }, expected },
  ];
}

/** Describes how an answer differs from the expected one; undefined if it does not. */
export function differenceOf(expected: Expected, answer: Verdict): string | undefined {
  if (answer.verdict !== expected.verdict) {
    if ([expected.or].flat().includes(answer.verdict)) return undefined;
    return `expected ${expected.verdict}, got ${answer.verdict}`;
  }
  if (expected.proof !== undefined && !isSameProof(expected.proof, answer.proof)) {
    return `expected proof ${JSON.stringify(expected.proof)}, got ${JSON.stringify(answer.proof)}`;
  }
  if (expected.answer !== undefined && !isSameAnswer(expected.answer, answer.answer)) {
    return `expected ${JSON.stringify(expected.answer)}, got ${JSON.stringify(answer.answer)}`;
  }
  const { retryAfterSeconds: seconds } = expected;
  return seconds === undefined || seconds === answer.retryAfterSeconds
    ? undefined
    : `expected retryAfterSeconds ${seconds}, got ${answer.retryAfterSeconds}`;
}

/** Other headers than those expected are left to the program. */
function isSameAnswer(expected: NonNullable<Verdict['answer']>, given: Verdict['answer']): boolean {
  const isThere = ([name, value]: [string, string | null]) => (given?.headers[name] ?? null) === value;
  return (
    given !== undefined &&
    given.status === expected.status &&
    given.bodyBase64 === expected.bodyBase64 &&
    Object.entries(expected.headers).every(isThere)
  );
}

function isSameProof(expected: NonNullable<Verdict['proof']>, given: Verdict['proof']): boolean {
  return (
    given !== undefined &&
    given.user === expected.user &&
    given.internId === expected.internId &&
    given.version === expected.version &&
    given.issuedAt === expected.issuedAt &&
    (given.nonce ?? undefined) === expected.nonce
  );
}

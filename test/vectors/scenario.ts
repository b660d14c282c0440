/** A refusal code of SPEC.md, section 5. Written out: the vectors do not take their expectations from the library. */
export type RefusalCode =
  | 'proof_missing'
  | 'proof_malformed'
  | 'proof_version_not_accepted'
  | 'request_not_coverable'
  | 'proof_expired'
  | 'proof_not_yet_valid'
  | 'key_unknown'
  | 'signature_invalid'
  | 'nonce_replayed'
  | 'replay_store_full'
  | 'answers_not_kept'
  /** To a question. */
  | 'call_running'
  | 'answer_lost'
  | 'answer_too_large'
  | 'call_not_received'
  | 'proof_before_fence';

/** Absent members have the defaults of SPEC.md. */
export interface VerifierConfiguration {
  internId: string;
  maxAgeSeconds?: number | undefined;
  clockToleranceSeconds?: number | undefined;
  acceptV1?: boolean | undefined;
  contentType?: string | undefined;
  /** Only for programs with the feature `answers`. */
  answers?: boolean | undefined;
}

export interface VerifiedFacts {
  user: string;
  internId: string;
  version: 1 | 2;
  /** Unix seconds. */
  issuedAt: number;
  nonce?: string;
}

/** The verifier's clock in Unix seconds, and the store's if it differs. */
export interface At {
  now: number;
  storeNow?: number;
}

export interface Head {
  method: string;
  target: string;
  rawHeaders: string[];
}

interface Verdict {
  /** The signing input, one character per byte. Absent if none can be built. */
  signingInput?: string;
  expect: 'ok' | RefusalCode;
  /** If SPEC.md leaves a choice: the other acceptable verdict. */
  or?: RefusalCode;
  proof?: VerifiedFacts;
  retryAfterSeconds?: number;
}

export type PresentStep = { do: 'present' } & At & Head & { bodyBase64: string } & Verdict;
/** The head of a request. Its body follows in a `finish` with the same `request`. */
export type BeginStep = { do: 'begin'; request: string } & At & Head & { expect: 'continue' | RefusalCode };
export type FinishStep = { do: 'finish'; request: string } & At & { bodyBase64: string } & Verdict;
/** The replay store loses everything and starts empty; the verifier keeps running. */
export type RestartStep = { do: 'restart' } & At & { expect: 'done' };
export const INTERN_ID = 'int_7Qm2';
export const CONFIGURATION: VerifierConfiguration = {
  internId: INTERN_ID,
  maxAgeSeconds: 60,
  clockToleranceSeconds: 2,
  acceptV1: false,
  contentType: 'application/json',
};
/** Long before every proof, unless a scenario says otherwise. */
export const STORE_SINCE = 1_788_990_000;

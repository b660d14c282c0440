/** A refusal code of SPEC.md, section 7. Written out: the vectors do not take their expectations from the library. */
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
  | 'proof_before_fence';

export interface VerifierConfiguration {
  internId: string;
  maxAgeSeconds: number;
  clockToleranceSeconds: number;
  acceptV1: boolean;
  contentType: string;
}

export interface VerifiedFacts {
  user: string;
  internId: string;
  version: 1 | 2;
  /** Unix seconds. */
  issuedAt: number;
  nonce?: string;
}

export interface Step {
  /** Unix seconds. */
  now: number;
  method: string;
  target: string;
  rawHeaders: string[];
  bodyBase64: string;
  expect: 'ok' | RefusalCode;
  proof?: VerifiedFacts;
}

export interface Scenario {
  title: string;
  section: string;
  verifier: VerifierConfiguration;
  replayStoreSince: number;
  jwks: { keys: unknown[] };
  steps: Step[];
}

export const INTERN_ID = 'int_7Qm2';
export const CONFIGURATION: VerifierConfiguration = {
  internId: INTERN_ID,
  maxAgeSeconds: 60,
  clockToleranceSeconds: 2,
  acceptV1: false,
  contentType: 'application/json',
};
/** Long before every proof, unless a scenario says otherwise. */
export const REPLAY_STORE_SINCE = 1_788_990_000;

/** `proofs/<name>.json` of a scenario: its title as a file name. */
export function fileName({ title }: Scenario): string {
  return `${title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')}.json`;
}

/** The file's text: two-space JSON, ASCII only, so that no tool changes its bytes. */
export function render(scenario: Scenario): string {
  const json = JSON.stringify(scenario, undefined, 2);
  const ascii = json.replaceAll(
    /[\x7f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${ascii}\n`;
}

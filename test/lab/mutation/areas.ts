/** What is mutated together, with the tests that must notice. */
export interface Area {
  /** Folders or files; tests, fixtures and queries below them are left out. */
  readonly sources: readonly string[];
  /** Globs of the test files that run against each mutant. Each must pass in one process with the others. */
  readonly tests: readonly string[];
  /** Those that only what survives the others is tried with, because they start processes or whole services. */
  readonly slowTests?: readonly string[];
  /** Whether also what runs while a slow test is imported is tried, with each of them, until one fails. */
  readonly isStaticTriedSlowly?: boolean;
  /** The least share of mutants killed, in percent, equivalent ones left out. */
  readonly mark: number;
}

const beside = (...folders: string[]): string[] => folders.map((folder) => `${folder}/**/*.test.ts`);

const PROOF = 'libs/public/proof/src';
const VERIFIER = 'libs/public/verifier/src';
const TLOG = 'libs/public/tlog/src';
const LOG = 'services/log/src';
const IDENTITY = 'libs/internal/identity/src';
const TURNS = 'libs/internal/turns/src';
const SIGNER = 'services/signer/src';
const MANAGEMENT = 'services/management/src';

export const AREAS: Readonly<Record<string, Area>> = {
  proof: {
    sources: [PROOF],
    tests: [...beside(PROOF), `${VERIFIER}/keys/rooted.test.ts`, 'test/conformance/vectors.test.ts'],
    mark: 98,
  },
  verifier: {
    sources: [
      'claim',
      'outcome',
      'policy',
      'question-path',
      'refusal',
      'requirements',
      'verifier',
      'warning',
    ].map((name) => `${VERIFIER}/${name}.ts`),
    tests: [`${VERIFIER}/*.test.ts`, `${VERIFIER}/keys/remote*.test.ts`, 'test/conformance/vectors.test.ts'],
    mark: 98,
  },
  keys: { sources: [`${VERIFIER}/keys`], tests: beside(`${VERIFIER}/keys`), mark: 98 },
  adapters: {
    sources: [`${VERIFIER}/adapters`],
    tests: beside(`${VERIFIER}/adapters`, `${VERIFIER}/answers`),
    mark: 98,
  },
  answers: {
    sources: [`${VERIFIER}/answers`],
    tests: [...beside(`${VERIFIER}/answers`, `${VERIFIER}/adapters`), `${VERIFIER}/replay/answers.test.ts`],
    mark: 95,
  },
  'replay-memory': {
    sources: [`${VERIFIER}/replay/memory`],
    tests: [
      ...beside(`${VERIFIER}/replay/memory`),
      `${VERIFIER}/replay/*.test.ts`,
      'test/conformance/vectors.test.ts',
    ],
    mark: 98,
  },
  'replay-redis': {
    sources: [`${VERIFIER}/replay/redis`, `${VERIFIER}/replay/shared-store.ts`],
    tests: [
      `${VERIFIER}/replay/redis/{acl,cluster,store}.test.ts`,
      `${VERIFIER}/replay/{answers,shared-store}.test.ts`,
    ],
    mark: 98,
  },
  'replay-postgres': {
    sources: [`${VERIFIER}/replay/postgres`],
    tests: [
      `${VERIFIER}/replay/postgres/{doubt,forget,roles,settings,store}.test.ts`,
      `${VERIFIER}/replay/answers.test.ts`,
    ],
    mark: 98,
  },
  identity: {
    sources: [IDENTITY],
    tests: [...beside(IDENTITY), `${SIGNER}/config.test.ts`],
    slowTests: ['test/contract/sign/*.test.ts'],
    mark: 98,
  },
  turns: { sources: [TURNS], tests: beside(TURNS), mark: 98 },
  signer: {
    sources: [`${SIGNER}/core`, `${SIGNER}/edge`],
    // stages.test.ts compiles the sources, and Stryker's do not.
    tests: [`${SIGNER}/core/**/!(stages).test.ts`, `${SIGNER}/edge/*.test.ts`],
    slowTests: [
      'test/contract/{sign,jwks,protected-resource}/*.test.ts',
      'test/contract/operations/metrics.test.ts',
    ],
    isStaticTriedSlowly: true,
    mark: 98,
  },
  'signer-adapters': {
    sources: ['keys', 'facts', 'effects', 'ops', 'dependencies.ts', 'require-dependencies.ts'].map(
      (name) => `${SIGNER}/${name}`,
    ),
    // audit-file-partial.test.ts replaces a module of Node.
    tests: [
      `${SIGNER}/{keys,facts,effects,ops}/!(audit-file-partial).test.ts`,
      `${SIGNER}/{dependencies,require-dependencies}.test.ts`,
    ],
    slowTests: ['test/contract/{jwks,sign}/*.test.ts', 'test/contract/operations/metrics.test.ts'],
    mark: 95,
  },
  tlog: {
    sources: [TLOG],
    tests: beside(TLOG),
    slowTests: ['test/wings/transparency/{monitor,keys}.test.ts'],
    mark: 95,
  },
  log: {
    sources: ['disk', 'follow', 'http', 'sequencer.ts', 'publisher.ts', 'witnesses.ts'].map(
      (name) => `${LOG}/${name}`,
    ),
    tests: beside(LOG),
    mark: 95,
  },
  management: {
    sources: [
      ...[
        'assignments',
        'byok',
        'callers',
        'guardrails',
        'interns',
        'keys',
        'organization',
        'workspaces',
      ].map((name) => `${MANAGEMENT}/${name}`),
      ...['page', 'fields', 'refusal'].map((name) => `${MANAGEMENT}/${name}.ts`),
    ],
    tests: beside(MANAGEMENT),
    slowTests: [
      'test/contract/management/{any-route,byok,conditions,dpop,endings,examples}.test.ts',
      'test/contract/management/{guardrails,openapi,scripts}.test.ts',
    ],
    isStaticTriedSlowly: true,
    mark: 95,
  },
};

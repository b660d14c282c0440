/** One folder of `dist`: the content of one image, or one service on a machine without images. */
export interface ShippedFolder {
  readonly name: string;
  /** File name without ending, and the source that it is built from, relative to the checkout: programs, threads, and what programs load on demand. */
  readonly programs: Readonly<Record<string, string>>;
  /** A package that others install with npm: the fields of its package.json besides version and licence. */
  readonly manifest?: { readonly name: string } & Readonly<Record<string, unknown>>;
  /** Optional packages, which the programs can do without. */
  readonly optionalDependencies?: readonly string[];
  /** Documents to include. */
  readonly documents?: readonly string[];
}

/** Loaded only if traces are exported. */
const TRACING_SDK = 'libs/internal/http/src/observe/tracing/sdk.ts';

/** A service that can export traces. */
const service = (name: string, others: ShippedFolder['programs'] = {}): ShippedFolder => ({
  name,
  programs: {
    [`ori-${name}`]: `services/${name}/bin/ori-${name}.js`,
    main: `services/${name}/src/main.ts`,
    'tracing/sdk': TRACING_SDK,
    ...others,
  },
});

export const SHIPPED: readonly ShippedFolder[] = [
  service('signer'),
  service('management', {
    'pattern-compiler-worker': 'services/management/src/guardrails/pattern-compiler-worker.ts',
  }),
  service('log'),
  {
    name: 'guard',
    programs: { 'ori-guard': 'services/guard/bin/ori-guard.js', main: 'services/guard/src/main.ts' },
  },
  {
    name: 'kms-agent',
    programs: { 'ori-kms-agent': 'services/kms-agent/src/main.ts' },
  },
  {
    name: 'admin',
    programs: { 'ori-admin': 'services/ori-admin/src/main.ts' },
  },
  {
    name: 'cli',
    programs: { ori: 'services/ori/bin/ori.js' },
    manifest: {
      name: '@ori/cli',
      description: 'Sign in, sign requests to intern daemons, call them.',
      keywords: ['ori', 'daemon-proof', 'cli', 'ed25519', 'oauth'],
      bin: { ori: 'ori.js', 'ori-proof': 'ori.js' },
      engines: { node: '>=24.15' },
    },
    optionalDependencies: ['@napi-rs/keyring'],
    documents: ['services/ori/README.md'],
  },
];

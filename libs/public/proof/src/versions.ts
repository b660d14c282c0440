/** The names of the proof headers, in lower case. Other spellings are other headers: `x_ori_invoke_user` is not read. */
export const PROOF_HEADERS = {
  signature: 'x-ori-invoke-signature',
  timestamp: 'x-ori-invoke-timestamp',
  user: 'x-ori-invoke-user',
  signatureV2: 'x-ori-invoke-signature-v2',
  nonce: 'x-ori-invoke-nonce',
} as const;

type Headers = typeof PROOF_HEADERS;

/** The signing response: header names and values, ready to send. */
export type ProofHeaderValues = {
  [Name in Headers['signature' | 'timestamp' | 'user']]: string;
} & {
  [Name in Headers['signatureV2' | 'nonce']]?: string;
};

/** A field that a signature can cover (SPEC.md, section 1). */
export type CoveredField = 'internId' | 'timestamp' | 'user' | 'bodySha256' | 'nonce' | 'method' | 'path';

interface VersionFacts {
  /** The first netstring of the signing input, up to its comma. */
  readonly label: string;
  /** The other netstrings, in their order. */
  readonly covers: readonly CoveredField[];
  /** The header of its signature. */
  readonly signature: keyof Headers;
  /** The headers that it adds to those of the versions before it. All or none of them are present. */
  readonly adds: readonly (keyof Headers)[];
}

/**
 * The versions of the proof, the oldest first. A proof has the signatures of a version and of all before it, and is judged by its
 * newest.
 */
export const VERSIONS = {
  1: {
    label: '13:ori-invoke-v1',
    covers: ['internId', 'timestamp', 'user', 'bodySha256'],
    signature: 'signature',
    adds: ['signature', 'timestamp', 'user'],
  },
  2: {
    label: '13:ori-invoke-v2',
    covers: ['internId', 'timestamp', 'nonce', 'user', 'method', 'path', 'bodySha256'],
    signature: 'signatureV2',
    adds: ['signatureV2', 'nonce'],
  },
} as const satisfies Record<number, VersionFacts>;

export type Version = keyof typeof VERSIONS;

/** The oldest first. */
export const ALL_VERSIONS = Object.keys(VERSIONS).map(Number) as Version[];

/** Whether a proof of this version has a nonce: it covers method and path, and is accepted once. */
export const isSingleUse = (version: Version): boolean => versionFacts(version).covers.includes('nonce');

/** The versions that the signer issues, the oldest first: with a route all of them, without it those that cover none. */
export const issuedVersions = (hasRoute: boolean): readonly Version[] =>
  hasRoute ? ALL_VERSIONS : WITHOUT_ROUTE;

/** The names of the headers of a proof of this version. */
export const headersOf = (version: Version): readonly Headers[keyof Headers][] =>
  ALL_VERSIONS.filter((one) => one <= version).flatMap((one) =>
    versionFacts(one).adds.map((header) => PROOF_HEADERS[header]),
  );

/** Typed as the interface, which also has the members that some rows omit. */
export const versionFacts = (version: Version): VersionFacts => VERSIONS[version];

/**
 * The version whose signing input identifies a single-use proof, whichever signature it is verified by: it is reserved before
 * the proof is signed, and the log commits to it.
 */
export const IDENTIFYING_VERSION = 2 satisfies Version;

const WITHOUT_ROUTE = ALL_VERSIONS.filter((version) => !isSingleUse(version));

/** The kinds of API keys. Treat a disabled key like an unknown one. */
export interface ApiKeyFacts {
  readonly hash: string;
  readonly kind: 'api' | 'management';
  readonly disabled: boolean;
}

/**
 * The facts for the gate's decision. Absent and hidden objects differ here; the caller must not reveal the difference.
 */
export interface GateFacts {
  /** The user with this issuer and subject; null if there is none. */
  readonly user: { readonly id: string; readonly disabled: boolean } | null;
  /** Null if the intern does not exist or its workspace was deleted. */
  readonly intern: {
    readonly id: string;
    readonly workspaceId: string;
    readonly organizationId: string;
    /** The organization's own limits, if it has any. */
    readonly turnLimits?: { readonly user?: number; readonly organization?: number };
  } | null;
  /** Of the intern's workspace. */
  readonly inProgramme: boolean;
  /** The user's membership in the intern's workspace; null if never a member. */
  readonly membership: 'active' | 'removed' | null;
  /** Unix seconds: sessions that began earlier are revoked. */
  readonly sessionsValidFrom: number | null;
  readonly lifecycleWritesEnabled: boolean;
}

export interface GateQuestion {
  readonly issuer: string;
  readonly subject: string;
  readonly internId: string;
}

/** A key with which an intern's daemon proves its answers. */
export interface AnswerKey {
  /** 32 bytes in base64url. */
  readonly x: string;
  /** Base64: the statement about this key by a role of the deployment's root (ROOTED-KEY-SETS.md). */
  readonly statement?: string;
}

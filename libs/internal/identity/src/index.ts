export { TOKEN_CLOCK_TOLERANCE_SECONDS, type TokenFacts } from './access-token.ts';
export { completeIdentity, IDENTITY_SPEC, type IdentityConfig } from './config.ts';
export type { ApiKeyHolder, Identities, Identity } from './identities.ts';
export { IdentityError, type IdentityErrorCode } from './identity-error.ts';
export { type IssuerSettings, OUR_SCOPES } from './issuers-file.ts';
export { type OpenIdentity, openIdentity } from './open-identity.ts';
export { type Bearer, readBearer } from './read-bearer.ts';

export { TOKEN_CLOCK_TOLERANCE_SECONDS, type TokenFacts } from './access-token.ts';
export { baseUrlOf, complaintsOfIdentity, IDENTITY_SPEC, type IdentityConfig } from './config.ts';
export type { ApiKeyHolder, Identities, Identity } from './identities.ts';
export { IdentityError, type IdentityErrorCode } from './identity-error.ts';
export { type OpenIdentity, openIdentity } from './open-identity.ts';
export { type Bearer, readBearer } from './read-bearer.ts';

export { credentialContext } from './sealing/credential-context.ts';
export { extendKekRing, generateKekRing, type KekRing, parseKekRing } from './sealing/kek-ring.ts';
export { open, reseal, type SealContext, seal, sealedUnder } from './sealing/seal.ts';
export { SealingError, type SealingErrorCode } from './sealing/sealing-error.ts';
export { type SeedHome, seedContext } from './sealing/seed-context.ts';

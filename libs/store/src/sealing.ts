export { credentialContext } from './sealing/credential-context.ts';
export {
  extendKekRing,
  generateKekRing,
  KEK_OWNERS,
  type KekOwner,
  type KekRing,
  ownerOf,
  parseKekRing,
  promoteKek,
  removeKek,
} from './sealing/kek-ring.ts';
export { open, reseal, type SealContext, seal, sealedUnder } from './sealing/seal.ts';
export { SealingError, type SealingErrorCode } from './sealing/sealing-error.ts';
export { type SeedHome, seedContext } from './sealing/seed-context.ts';

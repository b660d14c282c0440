export {
  extendKekRing,
  generateKekRing,
  promoteKek,
  removeKek,
  wrapKekRing,
} from './sealing/change-kek-ring.ts';
export { credentialContext } from './sealing/credential-context.ts';
export { KEK_OWNERS, type KekOwner, type KekRing, ownerOf } from './sealing/kek-ring.ts';
export { openKekRing, parseKekRing, unwrapKekRing } from './sealing/kek-ring-text.ts';
export { type KeyWrapper, KmsError, type KmsErrorCode } from './sealing/key-wrapper.ts';
export { open, reseal, type SealContext, seal, sealedUnder } from './sealing/seal.ts';
export { SealingError, type SealingErrorCode } from './sealing/sealing-error.ts';
export { seedContext } from './sealing/seed-context.ts';

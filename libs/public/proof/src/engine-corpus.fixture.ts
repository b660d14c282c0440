import { hexToBytes } from '@noble/hashes/utils.js';
import {
  type EdgeKey,
  edgeKey,
  GROUP_ORDER,
  join,
  littleEndian,
  namedScalar,
  readS,
  SMALL_ORDER_SPELLINGS,
  signPastTorsion,
  signWith,
  solveS,
  TORSION,
} from './curve-edge-cases.fixture.ts';

const OWN = edgeKey(namedScalar('corpus key'));
const NONCE = namedScalar('corpus R');
const FIELD_PRIME = 2n ** 255n - 19n;

/** Message, key and signature of the 12 edge cases published with "Taming the many EdDSAs" (IACR ePrint 2020/1244, table 6). */
const PUBLISHED: readonly (readonly [message: string, publicKey: string, signature: string])[] = [
  [
    '8c93255d71dcab10e8f379c26200f3c7bd5f09d9bc3068d3ef4edeb4853022b6',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
    `c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a${'00'.repeat(32)}`,
  ],
  [
    '9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
    'f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04',
  ],
  [
    'aebf3f2601a0c8c5d39cc7d8911642f740b78168218da8471772b35f9d35b9ab',
    'f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa8c4bd45aecaca5b24fb97bc10ac27ac8751a7dfe1baff8b953ec9f5833ca260e',
  ],
  [
    '9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79',
    'cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d',
    '9046a64750444938de19f227bb80485e92b83fdb4b6506c160484c016cc1852f87909e14428a7a1d62e9f22f3d3ad7802db02eb2e688b6c52fcd6648a98bd009',
  ],
  [
    'e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c',
    'cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d',
    '160a1cb0dc9c0258cd0a7d23e94d8fa878bcb1925f2c64246b2dee1796bed5125ec6bc982a269b723e0668e540911a9a6a58921d6925e434ab10aa7940551a09',
  ],
  [
    'e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c',
    'cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d',
    '21122a84e0b5fca4052f5b1235c80a537878b38f3142356b2c2384ebad4668b7e40bc836dac0f71076f9abe3a53f9c03c1ceeeddb658d0030494ace586687405',
  ],
  [
    '85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40',
    '442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623',
    'e96f66be976d82e60150baecff9906684aebb1ef181f67a7189ac78ea23b6c0e547f7690a0e2ddcd04d87dbc3490dc19b3b3052f7ff0538cb68afb369ba3a514',
  ],
  [
    '85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40',
    '442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623',
    '8ce5b96c8f26d0ab6c47958c9e68b937104cd36e13c33566acd2fe8d38aa19427e71f98a473474f2f13f06f97c20d58cc3f54b8bd0d272f42b695dd7e89a8c22',
  ],
  [
    '9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41',
    'f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff03be9678ac102edcd92b0210bb34d7428d12ffc5df5f37e359941266a4e35f0f',
  ],
  [
    '9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41',
    'f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffca8c5b64cd208982aa38d4936621a4775aa233aa0505711d8fdcfdaa943d4908',
  ],
  [
    'e96b7021eb39c1a163b6da4e3093dcd3f21387da4cc4572be588fafae23c155b',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
    'a9d55260f765261eb9b84e106f665e00b867287a761990d7135963ee0a7d59dca5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04',
  ],
  [
    '39a591f5321bbe07fd5a23dc2f39d025d74526615746727ceefd6e82ae65c06f',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
    'a9d55260f765261eb9b84e106f665e00b867287a761990d7135963ee0a7d59dca5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04',
  ],
];

function inputs(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, index) => new TextEncoder().encode(`corpus input ${index}`));
}

function ask(title: string, key: EdgeKey, input: Uint8Array, signature: Uint8Array, honest = false) {
  return { title, publicKey: key.encoded, input, signature, honest };
}

/** One signature to verify. `honest`: made according to RFC 8032 by an admissible key. */
export type EngineCase = ReturnType<typeof ask>;

/** Adds 0 to 15 times L to S: all that fit into 256 bits, and only the first below L. */
function everyS(
  title: string,
  key: EdgeKey,
  input: Uint8Array,
  signature: Uint8Array,
  honest: boolean,
): EngineCase[] {
  return Array.from({ length: 16 }, (_, times) => {
    const spelt = join(signature.subarray(0, 32), readS(signature) + BigInt(times) * GROUP_ORDER);
    return ask(`${title}, S + ${times} L`, key, input, spelt, honest && times === 0);
  });
}

function flipBit(bytes: Uint8Array, bit: number): Uint8Array {
  return bytes.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
}

function publishedCases(): EngineCase[] {
  return PUBLISHED.map(([message, publicKey, signature], index) => ({
    title: `published ${index}`,
    publicKey: hexToBytes(publicKey),
    input: hexToBytes(message),
    signature: hexToBytes(signature),
    honest: false,
  }));
}

/** Every encoding of a small-order key with every encoding of a small-order R, S = 0. */
function smallOrderPairs(input: Uint8Array): EngineCase[] {
  return SMALL_ORDER_SPELLINGS.flatMap((encoded, a) =>
    SMALL_ORDER_SPELLINGS.map((spelledR, r) =>
      ask(`small-order key ${a}, small-order R ${r}`, { scalar: 0n, encoded }, input, join(spelledR, 0n)),
    ),
  );
}

/** Keys of small and mixed order; R of prime, small and mixed order; challenges that are and are not multiples of 8. */
function torsionKeys(input: Uint8Array): EngineCase[] {
  const small = SMALL_ORDER_SPELLINGS.map((encoded) => ({ scalar: 0n, encoded }));
  const mixed = TORSION.slice(1).map((torsion) => edgeKey(namedScalar('corpus mixed key'), torsion));
  return [...small, ...mixed].flatMap((key, index) => [
    ask(`key with torsion ${index}, past it`, key, input, signPastTorsion(key, `corpus ${index}`, input)),
    ...TORSION.map((torsion, r) =>
      ask(`key with torsion ${index}, R torsion ${r}`, key, input, signWith(key, NONCE, input, torsion)),
    ),
  ]);
}

/** These all reach the engines, because the key is admissible. */
function admittedKeyCases(): EngineCase[] {
  const signed = (input: Uint8Array, torsion?: (typeof TORSION)[number]) =>
    signWith(OWN, NONCE, input, torsion);
  const [first = new Uint8Array()] = inputs(1);
  const notPoints = Array.from({ length: 38 }, (_, index) =>
    littleEndian((FIELD_PRIME + BigInt(index >> 1)) | (BigInt(index & 1) << 255n)),
  );
  return [
    ...inputs(8).flatMap((input, i) => everyS(`honest ${i}`, OWN, input, signed(input), true)),
    ...inputs(4).flatMap((input, i) =>
      TORSION.slice(1).flatMap((torsion, r) =>
        everyS(`R torsion ${r + 1}, input ${i}`, OWN, input, signed(input, torsion), false).slice(0, 4),
      ),
    ),
    ...inputs(4).flatMap((input, i) =>
      SMALL_ORDER_SPELLINGS.flatMap((spelledR, r) => [
        ask(`small-order R ${r}, input ${i}`, OWN, input, join(spelledR, solveS(OWN, 0n, spelledR, input))),
        ask(`small-order R ${r}, S = 0, input ${i}`, OWN, input, join(spelledR, 0n)),
      ]),
    ),
    ...notPoints.map((spelledR, r) =>
      ask(`R not below p ${r}`, OWN, first, join(spelledR, solveS(OWN, 0n, spelledR, first))),
    ),
    ...Array.from({ length: 512 }, (_, bit) =>
      ask(`bit ${bit} of the signature`, OWN, first, flipBit(signed(first), bit)),
    ),
  ];
}

/** More than a thousand deterministic cases. */
export function engineCorpus(): EngineCase[] {
  const [first = new Uint8Array()] = inputs(1);
  return [...publishedCases(), ...smallOrderPairs(first), ...torsionKeys(first), ...admittedKeyCases()];
}

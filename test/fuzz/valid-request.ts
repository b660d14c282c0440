import fc from 'fast-check';

/** A valid signing request as a value. */
export interface ValidRequest {
  readonly bodySha256: string;
  readonly route?: { readonly method: 'POST'; readonly path: string };
}

const hexDigit = fc.constantFrom(...'0123456789abcdef');

export const sha256Hex = fc.string({ unit: hexDigit, minLength: 64, maxLength: 64 });

/** Printable ASCII without space, `#` and `?`, but with quotes and backslashes. */
const pathCharacter = fc
  .integer({ min: 0x21, max: 0x7e })
  .map((code) => String.fromCharCode(code))
  .filter((character) => character !== '#' && character !== '?');

export const validPath = fc
  .oneof(
    { weight: 9, arbitrary: fc.string({ unit: pathCharacter, maxLength: 60 }) },
    { weight: 1, arbitrary: fc.string({ unit: pathCharacter, minLength: 2000, maxLength: 2047 }) },
  )
  .map((rest) => `/${rest}`);

export const validRequest: fc.Arbitrary<ValidRequest> = fc
  .tuple(sha256Hex, fc.option(validPath, { nil: undefined, freq: 5 }))
  .map(([bodySha256, path]) =>
    path === undefined ? { bodySha256 } : { bodySha256, route: { method: 'POST', path } },
  );

export const validRequestWithRoute = validRequest.filter(
  (request): request is Required<ValidRequest> => request.route !== undefined,
);

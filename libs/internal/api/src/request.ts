import { isBodySha256, isPath, PROOF_METHOD } from '@ori/proof/fields';
import { z } from 'zod';

/** The body of a signing request. The patterns are for the API description; `refine` does the validation. */
export const signingRequest = z
  .strictObject({
    bodySha256: z.string().refine(isBodySha256).meta({
      pattern: '^[0-9a-f]{64}$',
      description: 'SHA-256 of the exact bytes that will be sent to the daemon, in lower-case hex.',
      example: '8a44725210b9dcd4fefd9f0eca07b70ae45e69274a3105fb25eb426a2cf8bbf4',
    }),
    route: z
      .strictObject({
        method: z.literal(PROOF_METHOD),
        path: z.string().refine(isPath).meta({
          // Without the length: some engines limit counted repetitions to 1,000.
          pattern: '^/[!"$->@-~]*$',
          maxLength: 2048,
          description: 'Percent-encoded path as it will be sent, without origin or query.',
          example: '/api/invoke',
        }),
      })
      .optional()
      .meta({
        description: 'The daemon request that the proof is for; if present, the answer contains a v2 proof.',
      }),
  })
  .meta({ id: 'SigningRequest' });

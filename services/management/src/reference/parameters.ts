import { z } from 'zod';

/** @param example what a tool that sends examples may send */
const optionalHeader = (id: string, description: string, example?: string) =>
  z
    .string()
    .optional()
    .meta({ description, param: { id }, ...(example !== undefined && { example }) });

/** Accepted everywhere without effect, and described for the operations that the interface lists. */
export const AppHeaders = z.object({
  'HTTP-Referer': optionalHeader('HTTP-Referer', 'Address of your application, to identify it.'),
  'X-Ori-Title': optionalHeader('X-Ori-Title', 'Name of your application.'),
  'X-Ori-Categories': optionalHeader(
    'X-Ori-Categories',
    'Categories of your application, separated by commas.',
  ),
});

export const IfNoneMatch = z.object({
  'If-None-Match': optionalHeader('If-None-Match', 'The `ETag` of the cached answer.'),
});

export const IfMatch = z.object({
  'If-Match': optionalHeader(
    'If-Match',
    'The `ETag` of the record that the change is meant for; 412 if it has another one by now. `*`: whatever it is.',
    '*',
  ),
});

export const IdempotencyKey = z.object({
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .meta({
      description:
        'A value of your own, such as a UUID. A request that is repeated with it within 24 hours is not executed again and gets the first answer.',
      // In Postman, another one for each request.
      example: '{{$guid}}',
      param: { id: 'Idempotency-Key' },
    }),
});

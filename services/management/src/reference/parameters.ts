import { ApiKeyHash } from '@ori/identity/api-key-hash';
import { z } from 'zod';
import { SAMPLE } from '../fields.ts';

const recordId = (example: string) => z.uuid().meta({ description: 'Identifier of the record.', example });

/** The parameters of paths, by subject and name. A value that does not match gets 404. */
const PATH_PARAMETERS: Readonly<Record<string, z.ZodType>> = {
  '/interns/{internId}': z.string().min(1).meta({
    description: 'Intern identifier: 1 to 128 of `A-Z a-z 0-9 _ -`, the first a letter or a digit.',
    example: SAMPLE.internId,
  }),
  '/byok/{id}': recordId(SAMPLE.credentialId),
  '/guardrails/{id}': recordId(SAMPLE.guardrailId),
  '/keys/{hash}': ApiKeyHash,
  '/workspaces/{id}': z
    .string()
    .min(1)
    .meta({ description: 'Identifier or slug of the workspace.', example: SAMPLE.workspaceId }),
};

/** The parameters of a path template; undefined if there are none. */
export function pathParametersOf(template: string): z.ZodObject | undefined {
  const [subject, name] = /^\/\w+\/\{(\w+)\}/.exec(template) ?? [];
  if (subject === undefined || name === undefined) return undefined;
  const parameter = PATH_PARAMETERS[subject];
  if (parameter === undefined) throw new TypeError(`{${name}} of ${template} is not described`);
  return z.object({ [name]: parameter });
}

const optionalHeader = (id: string, description: string) =>
  z.string().optional().meta({ description, param: { id } });

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
    'The `ETag` of the record that the change is meant for; 412 if it has another one by now.',
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
      param: { id: 'Idempotency-Key' },
    }),
});

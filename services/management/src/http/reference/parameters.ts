import { ApiKeyHash } from '@ori/identity/api-key-hash';
import { z } from 'zod';
import { SAMPLE } from '../../fields.ts';

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

/** Accepted everywhere without effect, and described for the operations that the interface lists. */
export const AppHeaders = z.object({
  'HTTP-Referer': z
    .string()
    .optional()
    .meta({ description: 'Address of your application, to identify it.', param: { id: 'HTTP-Referer' } }),
  'X-Ori-Title': z
    .string()
    .optional()
    .meta({ description: 'Name of your application.', param: { id: 'X-Ori-Title' } }),
  'X-Ori-Categories': z
    .string()
    .optional()
    .meta({
      description: 'Categories of your application, separated by commas.',
      param: { id: 'X-Ori-Categories' },
    }),
});

export const IfNoneMatch = z.object({
  'If-None-Match': z
    .string()
    .optional()
    .meta({ description: 'The `ETag` of the cached answer.', param: { id: 'If-None-Match' } }),
});

export const IfMatch = z.object({
  'If-Match': z
    .string()
    .optional()
    .meta({
      description: 'The `ETag` of the record that the change is meant for; 412 if it has another one by now.',
      param: { id: 'If-Match' },
    }),
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

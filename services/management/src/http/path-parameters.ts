import { ApiKeyHash } from '@ori/identity/api-key-hash';
import { z } from 'zod';
import { notFound } from '../callers/caller.ts';
import { SAMPLE } from '../fields.ts';

const recordId = (example: string) => z.uuid().meta({ description: 'Identifier of the record.', example });

/** An id or a slug; the pattern is described in words, because it is stricter than clients need to be. */
const word = z.string().refine((text) => /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(text));

/** The parameters of paths, by subject and name. */
const PATH_PARAMETERS: Readonly<Record<string, z.ZodType<string>>> = {
  '/interns/{internId}': word.min(1).meta({
    description: 'Intern identifier: 1 to 128 of `A-Z a-z 0-9 _ -`, the first a letter or a digit.',
    example: SAMPLE.internId,
  }),
  '/byok/{id}': recordId(SAMPLE.credentialId),
  '/guardrails/{id}': recordId(SAMPLE.guardrailId),
  '/keys/{hash}': ApiKeyHash,
  '/workspaces/{id}': word
    .min(1)
    .meta({ description: 'Identifier or slug of the workspace.', example: SAMPLE.workspaceId }),
};

/** The parameter of a path template; undefined if there is none. */
function parameterOf(template: string) {
  const [subject, name] = /^\/\w+\/\{(\w+)\}/.exec(template) ?? [];
  if (subject === undefined || name === undefined) return undefined;
  const schema = PATH_PARAMETERS[subject];
  if (schema === undefined) throw new TypeError(`{${name}} of ${template} is not described`);
  return { name, schema };
}

/** The parameters of a path template, for its description; undefined if there are none. */
export function pathParametersOf(template: string): z.ZodObject | undefined {
  const parameter = parameterOf(template);
  return parameter && z.object({ [parameter.name]: parameter.schema });
}

/** The record that a path names, empty if it names none. What is not of its form does not exist. @throws Refusal `not_found` */
export function readId(template: string, parameters: Readonly<Record<string, string>>): string {
  const parameter = parameterOf(template);
  if (parameter === undefined) return '';
  const read = parameter.schema.safeParse(parameters[parameter.name]);
  if (!read.success) throw notFound();
  return read.data;
}

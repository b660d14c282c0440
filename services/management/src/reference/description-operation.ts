import type { Described } from '@ori/api/operations';
import { z } from 'zod';
import { DOCUMENT_PATH, PUBLISHED_CACHE_CONTROL } from '../http/reference-files.ts';
import { IfNoneMatch } from './parameters.ts';

const headers = z.object({
  ETag: z.string().meta({ description: 'Strong entity tag of the document.' }),
  'Cache-Control': z.literal(PUBLISHED_CACHE_CONTROL),
});

export const DESCRIPTION_OPERATION: Described = {
  operationId: 'getApiDescription',
  tag: 'Discovery',
  method: 'GET',
  path: DOCUMENT_PATH,
  summary: 'Get this description',
  description: 'Public. The OpenAPI 3.1 document behind the reference.',
  scopes: null,
  headers: IfNoneMatch,
  answers: {
    200: {
      description: 'An OpenAPI 3.1 document.',
      body: z.looseObject({ openapi: z.string().meta({ example: '3.1.1' }) }),
      headers,
    },
    304: { description: 'The cached answer is still current.', headers },
  },
  refusals: [],
};

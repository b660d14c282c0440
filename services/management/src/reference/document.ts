import { type Described, SIGNER_OPERATIONS } from '@ori/api/operations';
import { VERSION } from '@ori/runtime/version';
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOverrideContext,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';
import { OPERATIONS } from '../operations.ts';
import { describeManagement, renderOperation } from './describe.ts';
import { DESCRIPTION_OPERATION } from './description-operation.ts';
import { INTRODUCTION, TAGS } from './prose.ts';

type Schema = ZodOpenApiOverrideContext['jsonSchema'];

export type ApiDocument = ReturnType<typeof createDocument>;

/**
 * The OpenAPI 3.1 document of the whole API, signer and management together, generated from the tables that route and
 * validate.
 *
 * @param baseUrl the public base address, without a trailing slash
 */
export function createApiDocument(baseUrl: string): ApiDocument {
  const described = [...SIGNER_OPERATIONS, ...OPERATIONS.map(describeManagement), DESCRIPTION_OPERATION];
  const document: ZodOpenApiObject = {
    openapi: '3.1.1',
    info: {
      title: 'ori API',
      version: VERSION,
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: TAGS,
    security: [{ bearer: [] }],
    paths: pathsOf(described, baseUrl),
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, a management key, or the access token of a session without a bound key.',
        },
        dpop: {
          type: 'http',
          scheme: 'dpop',
          description:
            'The access token of a session that is bound to a key, with a proof in `DPoP` (RFC 9449).',
        },
      },
    },
  };
  return createDocument(document, { override: ({ jsonSchema }) => simplify(jsonSchema) });
}

/**
 * Simplifies a schema: a type or null is one schema with both types; a UUID and a time need no pattern, which generated
 * clients match against the time as they print it; of a boolean only the description says that it has one value, because
 * clients in Java and Rust with such a constant do not compile; and a number is a double, because clients in Kotlin send any
 * other as text.
 */
function simplify(schema: Schema): void {
  const [plain, nothing, ...others] = schema.anyOf ?? [];
  const isPlain = typeof plain?.type === 'string' && plain.$ref === undefined;
  if (isPlain && nothing?.type === 'null' && others.length === 0) {
    delete schema.anyOf;
    Object.assign(schema, { ...plain, type: [plain.type, 'null'] }, { ...schema });
    if (schema.enum !== undefined) schema.enum = [...schema.enum, null];
  }
  if (schema.type === 'boolean') delete schema.const;
  if ([schema.type].flat()[0] === 'number') schema.format = 'double';
  if (schema.format === 'uuid' || schema.format === 'date-time') delete schema.pattern;
}

function pathsOf(described: readonly Described[], baseUrl: string): ZodOpenApiPathsObject {
  const paths: ZodOpenApiPathsObject = {};
  for (const operation of described) {
    const { path, method } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: renderOperation(operation, baseUrl) };
  }
  return paths;
}

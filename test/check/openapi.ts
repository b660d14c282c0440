import { createApiDocument } from '@ori/management/api-document';
import { createConfig, lintFromString } from '@redocly/openapi-core';

/** Lints the API's OpenAPI document: its structure, its references, its examples against their schemas, and good manners. */
const config = await createConfig({
  extends: ['recommended-strict'],
  rules: {
    // Two documents are public and without parameters: nothing about a request for them can be refused.
    'operation-4xx-response': 'off',
    'no-invalid-media-type-examples': 'error',
    'no-invalid-parameter-examples': 'error',
    'no-invalid-schema-examples': 'error',
    'operation-description': 'error',
    'operation-tag-defined': 'error',
    'path-excludes-patterns': { severity: 'error', patterns: ['/$', '//'] },
    'tag-description': 'error',
    'no-unused-components': 'error',
  },
});
const source = JSON.stringify(createApiDocument('http://127.0.0.1:8080/v1'));
const problems = await lintFromString({ source, config });
for (const { ruleId, message, location } of problems) {
  console.error(`openapi.json${location[0]?.pointer ?? ''}: ${message} (${ruleId})`);
}
if (problems.length > 0) process.exit(1);

import { readFileSync } from 'node:fs';
import { createReference, GENERATED_FILE, renderGenerated } from '@ori/management/reference';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import { judgeForTools } from './openapi-rules.ts';

/**
 * Lints the OpenAPI document with two linters: structure, references, examples against their schemas, and style; and by
 * rules of our own for what common generators cannot read. The generated file must be that of the operations.
 */
const { document } = createReference('http://127.0.0.1:8080/v1');
const source = JSON.stringify(document);

async function redocly(): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // Two operations are public and have no parameters, so they have no error responses.
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
  const problems = await lintFromString({ source, config });
  return problems.map(
    ({ ruleId, message, location }) => `${location[0]?.pointer ?? ''}: ${message} (redocly ${ruleId})`,
  );
}

async function spectralOas(): Promise<string[]> {
  const linter = new spectral.Spectral();
  linter.setRuleset({
    extends: [[oas as unknown as RulesetDefinition, 'all']],
    rules: {
      // The contact depends on the installation.
      'info-contact': 'off',
      // The licence has an SPDX identifier, which excludes a URL (OpenAPI 3.1, License Object).
      'license-url': 'off',
      // Tags are ordered for readers, not by name.
      'openapi-tags-alphabetical': 'off',
      // OpenAPI 3.1 lets any security scheme list scopes or roles; the rule only knows OAuth 2.0.
      'oas3-operation-security-defined': 'off',
    },
  });
  const problems = await linter.run(source);
  return problems.map(({ code, message, path }) => `/${path.join('/')}: ${message} (spectral ${code})`);
}

const problems = [...judgeForTools(document), ...(await redocly()), ...(await spectralOas())];
for (const problem of problems) console.error(`openapi.json#${problem}`);
const isCurrent = readFileSync(GENERATED_FILE, 'utf8') === renderGenerated();
if (!isCurrent) console.error(`${GENERATED_FILE}: the operations have changed; npm run reference`);
if (problems.length > 0 || !isCurrent) process.exit(1);

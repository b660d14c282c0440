import { expect, test } from 'vitest';
import { createReferenceFiles, SAMPLE_BASE_URL } from './reference-files.ts';

test('the files name the base address of the installation, whatever its characters', () => {
  const page = `<a href="${SAMPLE_BASE_URL}/openapi.json">`;
  const baseUrl = 'https://own.example/$&/v1';
  const document = { servers: [{ url: SAMPLE_BASE_URL }] };
  const [description, docs] = createReferenceFiles(baseUrl, { document, page, script: '', policy: '' });
  expect(String(description?.bytes)).toBe(JSON.stringify({ servers: [{ url: baseUrl }] }));
  expect(String(docs?.bytes)).toBe(`<a href="${baseUrl}/openapi.json">`);
});

import { readFileSync } from 'node:fs';
import { type Spec, variableName } from '@ori/runtime/config';
import { expect } from 'vitest';

/** The Markdown table of the settings of a service. */
export function renderConfigTable(prefix: string, spec: Spec): string {
  const rows = Object.entries(spec).map(([key, field]) => {
    const name = variableName(prefix, key);
    const names = field.secret ? `\`${name}\` or \`${name}_FILE\`` : `\`${name}\``;
    const isRequired = !field.schema.safeParse(undefined).success;
    const value = isRequired ? 'required' : field.defaultText ? `\`${field.defaultText}\`` : '—';
    const cells = [names, value, field.unit ?? '—', `${field.doc} (${field.expected})`];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return ['| Name | Default | Unit | Meaning |', '|---|---|---|---|', ...rows, ''].join('\n');
}

/** Expects the table in the README of the package that a test belongs to, whose columns may be aligned. */
export function expectInReadme(test: ImportMeta, prefix: string, spec: Spec): void {
  const unaligned = (text: string) => text.replace(/[ -]+/g, '');
  const readme = readFileSync(new URL('../README.md', test.url), 'utf8');
  expect(unaligned(readme)).toContain(unaligned(renderConfigTable(prefix, spec)));
}

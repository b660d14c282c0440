import { isRequired, type Spec, variableName } from './config.ts';

/**
 * The Markdown table of a service's environment for its README. A test compares the two.
 */
export function renderConfigTable(prefix: string, spec: Spec): string {
  const rows = Object.entries(spec).map(([key, field]) => {
    const name = variableName(prefix, key);
    const names = field.secret ? `\`${name}\` or \`${name}_FILE\`` : `\`${name}\``;
    const value = isRequired(field) ? 'required' : field.defaultText ? `\`${field.defaultText}\`` : '—';
    const cells = [names, value, field.unit ?? '—', `${field.doc} (${field.expected})`];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return ['| Name | Default | Unit | Meaning |', '|---|---|---|---|', ...rows, ''].join('\n');
}

import { type Spec, variableName } from './config.ts';

/** Every setting of a service, for an operator: its name and default, then what it means and which values it takes. */
export function describeSettings(prefix: string, spec: Spec): string {
  const paragraphs = Object.entries(spec).map(([key, field]) => {
    const name = variableName(prefix, key);
    const names = field.secret ? `${name} or ${name}_FILE` : name;
    const isRequired = !field.schema.safeParse(undefined).success;
    const unit = field.unit ? ` ${field.unit}` : '';
    const fallback = field.defaultText ? `default ${field.defaultText}${unit}` : 'optional';
    return `${names} (${isRequired ? 'required' : fallback})\n  ${field.doc} (${field.expected})\n`;
  });
  return paragraphs.join('\n');
}

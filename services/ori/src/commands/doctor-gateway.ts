import { text } from 'node:stream/consumers';
import { bodyOfStream } from '../adapters/request-body.ts';
import { CliError } from '../core/errors.ts';
import { GATEWAY_RULES, severityOf } from '../gateway-lint/advice.ts';
import type { Finding } from '../gateway-lint/finding.ts';
import { isError, judgeGateway } from '../gateway-lint/judge.ts';
import { type Configuration, readConfiguration } from '../gateway-lint/nginx/files.ts';
import type { Context } from './context.ts';

export interface DoctorGatewayOptions {
  readonly skipMissing?: boolean;
}

/**
 * Checks an nginx configuration: prints everything that changes, or can change, a signed request. Throws CliError
 * `gateway_faulty` if there are findings, `gateway_without_route` if it forwards nothing, and the errors of reading it.
 */
export async function doctorGateway(
  context: Context,
  file: string,
  { skipMissing = false }: DoctorGatewayOptions,
): Promise<void> {
  const { directives, files, missing } = await read(context, file, skipMissing);
  const { findings, allowed, routes } = judgeGateway(directives);
  if (routes === 0) throw new CliError('gateway_without_route', { file });
  const errors = findings.filter(isError).length;
  const warnings = findings.length - errors;
  for (const absent of missing) context.terminal.note(`Not checked, because it does not exist: ${absent}`);
  if (context.json) {
    context.terminal.printJson({
      files,
      missing,
      routes,
      errors,
      warnings,
      allowed: allowed.length,
      findings: findings.map(toRecord),
    });
  } else for (const finding of findings) context.terminal.print(...toLines(finding));
  if (findings.length > 0) throw new CliError('gateway_faulty', { errors, warnings });
  if (!context.json) context.terminal.print(toSummary(files.length, routes, allowed.length));
}

async function read(context: Context, file: string, skipMissing: boolean): Promise<Configuration> {
  if (file !== '-') return await readConfiguration(file, { skipMissing });
  await using body = await bodyOfStream(context.stdin, 'stdin', context.interrupted);
  return await readConfiguration('stdin', { skipMissing, text: await text(body.chunks()) });
}

function toRecord({ rule, directive }: Finding): Record<string, unknown> {
  const { file, line } = directive;
  return {
    rule,
    severity: severityOf(rule),
    file,
    line,
    directive: written(directive),
    ...GATEWAY_RULES[rule],
  };
}

function toLines({ rule, directive }: Finding): string[] {
  const { what, fix } = GATEWAY_RULES[rule];
  return [
    `${directive.file}:${directive.line}: ${severityOf(rule)} ${rule}`,
    `    ${written(directive)}`,
    `  ${what}`,
    `  Fix: ${fix}`,
    '',
  ];
}

function written({ name, args, code, block }: Finding['directive']): string {
  const text = [name, ...args.map((arg) => (/^[^\s;{}"']+$/.test(arg) ? arg : JSON.stringify(arg)))].join(
    ' ',
  );
  const shown = text.length > 160 ? `${text.slice(0, 159)}…` : text;
  return code === undefined && block === undefined ? `${shown};` : `${shown} { … }`;
}

function toSummary(files: number, routes: number, allowed: number): string {
  const places = `${routes} ${routes === 1 ? 'route' : 'routes'} in ${files} ${files === 1 ? 'file' : 'files'}`;
  const taken = allowed === 0 ? '' : `; allowed by comments: ${allowed}`;
  return `Nothing found in ${places}${taken}. Requests pass as they were signed.`;
}

import { severityOf } from './advice.ts';
import type { Finding, Rule } from './finding.ts';
import type { Directive } from './nginx/parser.ts';
import { serversOf } from './routes.ts';
import { code } from './rules/code.ts';
import { innerRedirects, passedPath, rewrites, setQuery } from './rules/path.ts';
import { cachedAnswers, copies, errorPages, retries } from './rules/repetition.ts';
import { looseHeaders, otherProtocols, replacedBody, setHeaders, setMethod } from './rules/request.ts';

const ALL: readonly Rule[] = [
  passedPath,
  rewrites,
  setQuery,
  innerRedirects,
  setMethod,
  replacedBody,
  setHeaders,
  looseHeaders,
  otherProtocols,
  copies,
  retries,
  errorPages,
  cachedAnswers,
  code,
];

export interface Judgement {
  /** Ordered by file name, then by line. */
  readonly findings: readonly Finding[];
  /** Findings that a comment in the configuration allows. */
  readonly allowed: readonly Finding[];
  readonly routes: number;
}

/** Checks a configuration with its includes expanded. Without a route there is nothing to check. */
export function judgeGateway(directives: readonly Directive[]): Judgement {
  const servers = serversOf(directives);
  const found = new Map<string, Finding>();
  for (const server of servers) {
    for (const rule of ALL) {
      for (const finding of rule(server)) found.set(placeOf(finding), finding);
    }
  }
  const findings = [...found.values()].toSorted(byPlace);
  const isAllowed = ({ rule, directive }: Finding): boolean => directive.allows.includes(rule);
  return {
    findings: findings.filter((finding) => !isAllowed(finding)),
    allowed: findings.filter(isAllowed),
    routes: new Set(servers.flatMap(({ routes }) => routes.map(({ pass }) => pass))).size,
  };
}

/** Whether a finding certainly breaks proofs. */
export function isError({ rule }: Finding): boolean {
  return severityOf(rule) === 'error';
}

function placeOf({ rule, directive }: Finding): string {
  return `${rule} ${directive.line} ${directive.file}`;
}

function byPlace(one: Finding, other: Finding): number {
  const [a, b] = [one.directive, other.directive];
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line;
}

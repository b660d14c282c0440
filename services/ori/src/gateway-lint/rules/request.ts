import { PROOF_HEADERS, VERSIONS } from '@ori/proof/wire';
import type { RuleId } from '../advice.ts';
import type { Finding } from '../finding.ts';
import type { Directive } from '../nginx/parser.ts';
import type { Route, Server } from '../routes.ts';
import { effective, lastWith } from '../scopes.ts';

const PROOF_HEADER_NAMES: ReadonlySet<string> = new Set(Object.values(PROOF_HEADERS));
/** The rule that setting a header violates, by its name in lower case. */
const RULE_OF_HEADER = new Map<string, RuleId>([
  ...[...PROOF_HEADER_NAMES].map((name): [string, RuleId] => [name, 'proof-header-set']),
  ['content-type', 'content-type-set'],
  ['content-encoding', 'content-encoding-set'],
  ['content-length', 'body-length-set'],
  ['transfer-encoding', 'body-length-set'],
]);

/** `proxy_method`, unless it sets the original method. */
export function* setMethod({ routes }: Server): Iterable<Finding> {
  for (const { scope } of routes) {
    const directive = effective(scope, 'proxy_method').at(-1);
    if (directive !== undefined && directive.args[0] !== '$request_method')
      yield { rule: 'method-set', directive };
  }
}

export function* replacedBody({ routes }: Server): Iterable<Finding> {
  for (const { scope } of routes) {
    const set = effective(scope, 'proxy_set_body').at(-1);
    if (set !== undefined) yield { rule: 'body-replaced', directive: set };
    const off = lastWith(scope, 'proxy_pass_request_body', 'off');
    if (off !== undefined) yield { rule: 'body-dropped', directive: off };
  }
}

export function* setHeaders({ routes }: Server): Iterable<Finding> {
  for (const { scope, protocol } of routes) {
    const off = lastWith(scope, 'proxy_pass_request_headers', 'off');
    if (off !== undefined) yield { rule: 'headers-dropped', directive: off };
    for (const directive of effective(scope, `${protocol === 'grpc' ? 'grpc' : 'proxy'}_set_header`)) {
      yield* judged(directive, [directive.args[0] ?? '']);
    }
    for (const directive of effective(scope, 'more_set_input_headers')) {
      yield* judged(directive, namesIn(directive, ':'));
    }
    for (const directive of effective(scope, 'more_clear_input_headers')) {
      yield* judged(directive, namesIn(directive, ' '));
    }
  }
}

/** Headers that nginx drops by default. */
export function* looseHeaders({ scope: server }: Server): Iterable<Finding> {
  const aliases = lastWith(server, 'underscores_in_headers', 'on');
  if (aliases !== undefined) yield { rule: 'header-aliases', directive: aliases };
  const invalid = lastWith(server, 'ignore_invalid_headers', 'off');
  if (invalid !== undefined) yield { rule: 'invalid-headers-passed', directive: invalid };
}

/** True if the requests that a route sends contain no proof. */
export function isStripped({ scope }: Route): boolean {
  if (lastWith(scope, 'proxy_pass_request_headers', 'off') !== undefined) return true;
  const emptied = new Set(
    effective(scope, 'proxy_set_header')
      .filter(({ args }) => args[1] === '')
      .map(({ args }) => args[0]?.toLowerCase()),
  );
  // Without its signatures a proof is useless.
  return Object.values(VERSIONS).every(({ signature }) => emptied.has(PROOF_HEADERS[signature]));
}

/** Protocols in which headers arrive as variables. */
export function* otherProtocols({ routes }: Server): Iterable<Finding> {
  for (const { protocol, pass: directive } of routes) {
    if (protocol === 'cgi') yield { rule: 'not-http', directive };
  }
}

function* judged(directive: Directive, names: readonly string[]): Iterable<Finding> {
  for (const name of names.map((text) => text.toLowerCase())) {
    for (const [header, rule] of RULE_OF_HEADER) {
      const isNamed = name.endsWith('*') ? header.startsWith(name.slice(0, -1)) : header === name;
      if (isNamed) yield { rule, directive };
    }
  }
}

/** The header names in the arguments of the headers-more module, without its options and media types. */
function namesIn({ args }: Directive, end: ':' | ' '): string[] {
  return args.map((text) => text.split(end, 1).join().trim());
}

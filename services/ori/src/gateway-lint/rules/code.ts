import type { Finding } from '../finding.ts';
import { withoutComments } from '../nginx/lua.ts';
import type { Directive } from '../nginx/parser.ts';
import type { Server } from '../routes.ts';
import { effective, within } from '../scopes.ts';

/** Phases of Lua that run before a request is forwarded. */
const BEFORE = ['server_rewrite', 'rewrite', 'access'].map((phase) => `${phase}_by_lua`);
/** Handlers that can reach a route only with a subrequest. */
const HANDLERS = ['content_by_lua_file', 'js_content', 'perl'];
const CHANGES =
  /\bngx\s*\.\s*(?:req\s*\.\s*(?:set_(?:method|uri|uri_args|body_data|body_file|header)|clear_header|init_body|append_body|finish_body)|exec|location\s*\.\s*capture)\b/;

/** Code that changes a request, or code outside the configuration that could. */
export function* code({ scope: server, routes }: Server): Iterable<Finding> {
  for (const { scope } of routes) {
    for (const phase of BEFORE) {
      for (const directive of effective(scope, `${phase}_file`)) yield { rule: 'code-not-seen', directive };
      for (const directive of [...effective(scope, phase), ...effective(scope, `${phase}_block`)]) {
        if (changes(directive)) yield { rule: 'code-changes-request', directive };
      }
    }
  }
  const isInternal = routes.some(({ scope }) => effective(scope, 'internal').length > 0);
  for (const scope of within(server)) {
    for (const name of ['content_by_lua', 'content_by_lua_block']) {
      for (const directive of effective(scope, name)) {
        if (changes(directive)) yield { rule: 'code-changes-request', directive };
      }
    }
    for (const name of isInternal ? HANDLERS : []) {
      for (const directive of effective(scope, name)) yield { rule: 'code-not-seen', directive };
    }
  }
}

function changes({ code = '', args }: Directive): boolean {
  return CHANGES.test(withoutComments(`${code}\n${args.join('\n')}`));
}

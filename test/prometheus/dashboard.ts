import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly legendFormat: string;
  }[];
}

interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
}

const DEPLOY = join(import.meta.dirname, '../../deploy');

export const dashboard = JSON.parse(
  readFileSync(join(DEPLOY, 'grafana/dashboards/ori.json'), 'utf8'),
) as Dashboard;

/** Every expression of the dashboard, with its variables filled in as Grafana does. */
export function dashboardExpressions(): string[] {
  const written = [
    ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ...dashboard.annotations.list.map(({ expr }) => expr),
  ];
  return written.map((expression) =>
    expression.replaceAll('$__rate_interval', '1m').replaceAll(/\$(?:job|instance)\b/g, '.*'),
  );
}

const KEYWORDS = new Set(['and', 'or', 'unless', 'bool', 'Inf', 'NaN', 'group_left', 'group_right']);

/** The metrics of an expression: everything except labels, functions, keywords, numbers and durations. */
export function metricsIn(expression: string): string[] {
  const bare = expression
    .replaceAll(/\{[^}]*\}/g, ' ')
    .replaceAll(/\[[^\]]*\](?: offset \w+)?/g, ' ')
    .replaceAll(/\b(?:by|on|ignoring|without|group_left|group_right) *\([^)]*\)/g, ' ');
  return [...bare.matchAll(/(?<![\w:.])[a-zA-Z_:][\w:]*(?! *\()(?![\w:])/g)]
    .map(([name]) => name)
    .filter((name) => !KEYWORDS.has(name));
}

/** The values of a label in an expression, as patterns for the whole value. */
export function valuesAsked(expression: string, label: string): RegExp[] {
  return [...expression.matchAll(new RegExp(`[{ ,]${label}(=|=~|!=|!~)"([^"]*)"`, 'g'))].map(
    ([, , value]) => new RegExp(`^(?:${value})$`),
  );
}

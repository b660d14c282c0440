import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { dashboard, metricsIn, type Panel } from './dashboard.ts';

const GRID_COLUMNS = 24;
const GRAFANA = join(import.meta.dirname, '../../deploy/grafana');
const shown = dashboard.panels.filter(({ type }) => type !== 'row');

describe('the dashboard', () => {
  it('has panels with distinct ids that do not overlap', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    for (const [index, panel] of dashboard.panels.entries()) {
      const { x, w, h } = panel.gridPos;
      expect(w > 0 && h > 0 && x >= 0 && x + w <= GRID_COLUMNS, panel.title).toBe(true);
      const covered = dashboard.panels.slice(index + 1).filter((other) => overlap(panel, other));
      expect(
        covered.map(({ title }) => title),
        panel.title,
      ).toEqual([]);
    }
  });

  it('queries only the selected Prometheus', () => {
    expect(dashboard.templating.list.find(({ name }) => name === 'datasource')?.type).toBe('datasource');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's own
    for (const { datasource, title } of shown) expect(datasource?.uid, title).toBe('${datasource}');
  });

  it.each(shown.map((panel) => [panel.title, panel] as const))(
    '%s: has a description, a unit, and a name for each line',
    (_, { description = '', fieldConfig, targets = [] }) => {
      expect(description.length).toBeGreaterThan(20);
      expect(fieldConfig?.defaults.unit).toMatch(/^\w+$/);
      expect(targets.length).toBeGreaterThan(0);
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
      for (const { legendFormat } of targets) expect(legendFormat).not.toBe('');
    },
  );

  it('is in the folder that its provisioning names', () => {
    const provider = readFileSync(join(GRAFANA, 'provisioning/dashboards/ori.yml'), 'utf8');
    const readme = readFileSync(join(GRAFANA, 'README.md'), 'utf8');
    const path = /path: (\S+)/.exec(provider)?.[1];
    expect(readme).toContain(`\`dashboards\` as \`${path}\``);
  });

  it('finds its Prometheus in the shipped compose file', () => {
    const source = readFileSync(join(GRAFANA, 'provisioning/datasources/prometheus.yml'), 'utf8');
    const variable = /url: \$(\w+)/.exec(source)?.[1];
    const compose = readFileSync(join(GRAFANA, '../docker/compose.yaml'), 'utf8');
    expect(compose).toMatch(new RegExp(`^ +${variable}: http://prometheus:9090$`, 'm'));
  });
});

test('the metrics of an expression are all names except labels, functions and keywords', () => {
  const expression =
    'sum by (job, le) (rate(a_total{reason=~"x|y"}[5m])) / ignoring (b) group_left job:c:rate10m > 0.01 or vector(1e3) - time()';
  expect(metricsIn(expression)).toEqual(['a_total', 'job:c:rate10m']);
});

function overlap({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

import { type RowReport, renderNumber } from './report.ts';
import { type Finding, median, type Series } from './row.ts';

const WIDTH = 900;
const LABEL = 330;
const BAR = 16;
const GAP = 6;
const COLOURS = { ours: '#2563eb', theirs: '#9ca3af' } as const;

interface Bar {
  readonly label: string;
  readonly series: Series;
  readonly colour: string;
}

/** Throughput and latency as bars: the median of the rounds, with a line from the minimum to the maximum. */
export function renderPlot(reports: readonly RowReport[]): string {
  const parts: string[] = [];
  let y = 0;
  for (const part of ['throughput', 'latency'] as const) {
    for (const unit of unitsOf(reports, part)) {
      y += 30;
      parts.push(text(10, y, `${part}, ${unit}`, 'font-weight="bold"'));
      y += 10;
      const bars = barsOf(reports, part, unit);
      const longest = Math.max(...bars.flatMap(({ series }) => series.rounds));
      for (const bar of bars) {
        parts.push(renderBar(bar, y, (WIDTH - LABEL - 90) / longest));
        y += BAR + GAP;
      }
    }
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y + 20}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
${parts.join('\n')}
</svg>
`;
}

function findingsOf(reports: readonly RowReport[], part: Finding['plot']): (Finding & { row: string })[] {
  return reports.flatMap(({ row, findings }) =>
    findings.filter(({ plot }) => plot === part).map((finding) => ({ ...finding, row })),
  );
}

const unitsOf = (reports: readonly RowReport[], part: Finding['plot']) =>
  new Set(findingsOf(reports, part).map(({ unit }) => unit));

function barsOf(reports: readonly RowReport[], part: Finding['plot'], wanted: string): Bar[] {
  return findingsOf(reports, part)
    .filter(({ unit }) => unit === wanted)
    .flatMap(({ row, title, ours, theirs }) => [
      { label: `${row}, ${title}: ${ours.name}`, series: ours, colour: COLOURS.ours },
      ...(theirs === undefined
        ? []
        : [{ label: `${row}, ${title}: ${theirs.name}`, series: theirs, colour: COLOURS.theirs }]),
    ]);
}

function renderBar({ label, series, colour }: Bar, y: number, scale: number): string {
  const middle = median(series.rounds);
  const [least, greatest] = [Math.min(...series.rounds), Math.max(...series.rounds)];
  const line = y + BAR / 2;
  return [
    text(10, y + BAR - 4, label),
    `<rect x="${LABEL}" y="${y}" width="${(middle * scale).toFixed(1)}" height="${BAR}" fill="${colour}"/>`,
    `<line x1="${(LABEL + least * scale).toFixed(1)}" y1="${line}" x2="${(LABEL + greatest * scale).toFixed(1)}" y2="${line}" stroke="black"/>`,
    text(LABEL + 6 + greatest * scale, y + BAR - 4, renderNumber(middle)),
  ].join('\n');
}

function text(x: number, y: number, content: string, attributes = ''): string {
  const escaped = content.replace(/&/g, '&amp;').replace(/</g, '&lt;');
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escaped}</text>`;
}

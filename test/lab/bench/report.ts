import { availableParallelism, cpus } from 'node:os';
import { renderTable } from '../../env/text-table.ts';
import { type Finding, isReached, type Mark, median, type Series, valuesOf } from './row.ts';

/** The result of one row. */
export interface RowReport {
  readonly row: string;
  readonly isExact: boolean;
  readonly findings: readonly Finding[];
  /** Why the row did not run. */
  readonly skipped?: string;
}

export function renderReport(reports: readonly RowReport[]): string {
  const head = ['row', 'what', 'ours', 'theirs', 'ratio or +', 'spread', 'mark', ''];
  const rows = reports.flatMap(({ row, findings, skipped }) =>
    skipped === undefined
      ? findings.map((finding) => renderFinding(row, finding))
      : [[row, `skipped: ${skipped}`, '', '', '', '', '', '']],
  );
  return renderTable([head, ...rows]);
}

function renderFinding(row: string, finding: Finding): string[] {
  const { title, unit, ours, theirs, mark } = finding;
  const values = valuesOf(finding);
  const reached = isReached(finding);
  return [
    row,
    title,
    renderSide(ours, unit),
    theirs === undefined ? '' : renderSide(theirs, unit),
    theirs === undefined ? '' : `${finding.by === undefined ? '' : '+'}${renderNumber(median(values))}`,
    `${renderNumber(Math.min(...values))} to ${renderNumber(Math.max(...values))}`,
    renderMark(mark),
    reached === undefined ? '' : reached ? 'reached' : 'MISSED',
  ];
}

const renderSide = ({ name, rounds }: Series, unit: string) =>
  `${name} ${renderNumber(median(rounds))} ${unit}`;

function renderMark(mark: Mark | undefined): string {
  if (mark === undefined) return '';
  return 'atLeast' in mark ? `>= ${mark.atLeast}` : `<= ${mark.atMost}`;
}

function renderNumber(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}

/** All measurements as JSON. */
export function renderJson(
  reports: readonly RowReport[],
  remarks: readonly string[],
  options: object,
): string {
  const [cpu] = cpus();
  const machine = { node: process.version, cores: availableParallelism(), cpu: cpu?.model };
  const rows = reports.map((report) => ({
    ...report,
    findings: report.findings.map((finding) => {
      const values = valuesOf(finding);
      return { ...finding, values, median: median(values), reached: isReached(finding) };
    }),
  }));
  return `${JSON.stringify({ at: new Date().toISOString(), machine, options, rows, remarks }, null, 2)}\n`;
}

import type { Result } from './judge.ts';

const pad = (value: string | number, width: number): string => String(value).padStart(width);

/** Passed and failed by section of SPEC.md, then the codes that differ, most frequent first. */
export function table(results: readonly Result[]): string {
  const sections = [...new Set(results.map(({ section }) => section))].toSorted();
  const rows = sections.map((section) => {
    const own = results.filter((result) => result.section === section);
    const skipped = own.filter((result) => result.skipped !== undefined).length;
    const failed = own.filter(({ differences }) => differences.length > 0).length;
    return `${section.padEnd(10)}${pad(own.length - failed - skipped, 8)}${pad(failed, 8)}${pad(skipped, 9)}`;
  });
  const codes = Map.groupBy(
    results.flatMap((result) => result.codes ?? []),
    (code) => code,
  );
  const byCode = [...codes].toSorted(([, a], [, b]) => b.length - a.length);
  return [
    `${'section'.padEnd(10)}${pad('passed', 8)}${pad('failed', 8)}${pad('not run', 9)}`,
    ...rows,
    ...(byCode.length === 0 ? [] : ['', 'expected -> got']),
    ...byCode.map(([code, times]) => `${pad(times.length, 6)}  ${code}`),
  ].join('\n');
}

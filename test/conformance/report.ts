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
    `${'section'.padEnd(10)}${pad('passed', 8)}${pad('failed', 8)}${pad('skipped', 9)}`,
    ...rows,
    ...(byCode.length === 0 ? [] : ['', 'expected -> got']),
    ...byCode.map(([code, times]) => `${pad(times.length, 6)}  ${code}`),
  ].join('\n');
}

/** JUnit XML, with one test case per scenario and one suite per section. */
export function junit(results: readonly Result[]): string {
  const suites = [...Map.groupBy(results, ({ section }) => section)].map(([section, own]) => {
    const cases = own.map(({ title, differences, skipped }) => {
      const name = `  <testcase classname="SPEC.md ${escapeXml(section)}" name="${escapeXml(title)}"`;
      if (skipped !== undefined) return `${name}><skipped message="${escapeXml(skipped)}"/></testcase>`;
      if (differences.length === 0) return `${name}/>`;
      return `${name}><failure message="${escapeXml(differences[0] ?? '')}">${escapeXml(differences.join('\n'))}</failure></testcase>`;
    });
    const failures = own.filter(({ differences }) => differences.length > 0).length;
    const skips = own.filter(({ skipped }) => skipped !== undefined).length;
    return `<testsuite name="${escapeXml(section)}" tests="${own.length}" failures="${failures}" skipped="${skips}">\n${cases.join('\n')}\n</testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('\n')}\n</testsuites>\n`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** XML 1.0 does not allow control characters, even escaped. */
function escapeXml(text: string): string {
  return text
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? '')
    .replaceAll(
      /[^\t\n\x20-\x7e]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
}

/** One bug: a range of characters in a file, and its replacement. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly from: string;
  readonly to: string;
}

type Operator = readonly [pattern: RegExp, replacement: (found: string) => string];

/** Typical mistakes: bounds, conditions, guards, numbers, codes. */
const SHARED: readonly Operator[] = [
  [/ <= /g, () => ' < '],
  [/ >= /g, () => ' > '],
  [/ < (?!\/)/g, () => ' <= '],
  [/ > /g, () => ' >= '],
  [/ \+ /g, () => ' - '],
  [/ - /g, () => ' + '],
  [/(?<![\w.x-])\d{1,3}(?![\w.])/g, (found) => String(Number(found) + 1)],
  [/(?<![\w.x-])[1-9]\d{0,2}(?![\w.])/g, (found) => String(Number(found) - 1)],
  [
    /'(?:proof_expired|proof_not_yet_valid|proof_missing|proof_malformed|key_unknown)'/g,
    () => "'signature_invalid'",
  ],
  [
    /'(?:nonce_replayed|signature_invalid|proof_before_fence|request_not_coverable|proof_version_not_accepted)'/g,
    () => "'proof_expired'",
  ],
];

const QUOTED: readonly Operator[] = SHARED.map(([pattern, replacement]) => [
  new RegExp(pattern.source.replaceAll("'", '"'), 'g'),
  (found) => replacement(found).replaceAll("'", '"'),
]);

const GO: readonly Operator[] = [
  ...QUOTED,
  [/ == /g, () => ' != '],
  [/ != /g, () => ' == '],
  [/ && /g, () => ' || '],
  [/ \|\| /g, () => ' && '],
  [/(?<=[-+ a-zA-Z])\+(?=[\w.]*\w)(?!\+)/g, () => '-'],
  [/\btrue\b/g, () => 'false'],
  [/\bfalse\b/g, () => 'true'],
  [/\bcontinue\b/g, () => 'break'],
  [/!(?=[a-z])/g, () => ''],
  [/math\.Ceil/g, () => 'math.Floor'],
  [/math\.Floor/g, () => 'math.Ceil'],
  [/math\.Max/g, () => 'math.Min'],
  [/math\.Min/g, () => 'math.Max'],
  [/(?<=`)\^/g, () => ''],
  [/\$(?=`)/g, () => ''],
  [/\{0,2047\}|\{0,127\}|\{0,11\}|\{1,255\}/g, () => '*'],
];

const PYTHON: readonly Operator[] = [
  ...QUOTED,
  [/ == /g, () => ' != '],
  [/ != /g, () => ' == '],
  [/ and /g, () => ' or '],
  [/ or /g, () => ' and '],
  [/\bnot (?!in\b)/g, () => ''],
  [/\bTrue\b/g, () => 'False'],
  [/\bFalse\b/g, () => 'True'],
  [/\braise\b.*/g, () => 'pass'],
  [/\bcontinue\b/g, () => 'break'],
  [/\bany\(/g, () => 'all('],
  [/\ball\(/g, () => 'any('],
  [/math\.ceil/g, () => 'math.floor'],
  [/\bmax\(/g, () => 'min('],
  [/\.lower\(\)/g, () => ''],
  [/\.fullmatch\(/g, () => '.match('],
  [/ is None/g, () => ' is not None'],
  [/ in (?=self\.spent|jwk)/g, () => ' not in '],
  [/\{0,2047\}|\{0,127\}|\{0,11\}|\{1,255\}/g, () => '*'],
];

/** Every place in a file where an operator applies, except in comments, documentation and lines that match `skip`. */
export function mutantsOf(file: string, text: string, skip: RegExp): Mutant[] {
  const operators = { py: PYTHON, go: GO }[file.slice(-2)] ?? [];
  const mutants: Mutant[] = [];
  let offset = 0;
  let inDocumentation = false;
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*"""/.test(line))
      inDocumentation = !inDocumentation && line.indexOf('"""') === line.lastIndexOf('"""');
    const isProse = inDocumentation || /^\s*(?:\/\/|\/?\*|#|"""|import|from )/.test(line) || skip.test(line);
    if (!isProse) {
      for (const [pattern, replacement] of operators) {
        for (const { 0: from, index: at } of line.matchAll(pattern)) {
          const start = offset + at;
          mutants.push({
            file,
            line: index + 1,
            start,
            end: start + from.length,
            from,
            to: replacement(from),
          });
        }
      }
    }
    offset += line.length + 1;
  }
  return mutants;
}

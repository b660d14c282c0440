/** Breaks long lines between words and keeps their indentation. */
export function wrapLines(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, columns))
    .join('\n');
}

function wrapLine(line: string, columns: number): string {
  if (line.length <= columns) return line;
  const indent = /^ */.exec(line)?.[0] ?? '';
  const lines: string[] = [];
  let current = indent;
  for (const word of line.trim().split(/(?<=\S)(?= )/)) {
    const isFirst = current.trim() === '';
    if (!isFirst && current.length + word.length > columns) {
      lines.push(current);
      current = `${indent}  ${word.trimStart()}`;
    } else current += word;
  }
  return [...lines, current].join('\n');
}

import { createLogger, type Logger } from '@ori/runtime/log';

/** A logger whose lines a test can inspect. */
export function capturedLog(): { log: Logger; lines: Record<string, unknown>[]; text: () => string } {
  const texts: string[] = [];
  const lines: Record<string, unknown>[] = [];
  const destination = {
    write(line: string) {
      texts.push(line);
      lines.push(JSON.parse(line));
    },
  };
  return {
    log: createLogger({ service: 'test', level: 'trace', destination }),
    lines,
    text: () => texts.join(''),
  };
}

/**
 * What commander found wrong with a command line, as a sentence, without the value of an unknown option: it may be a
 * misplaced secret.
 */
export function explainUsage({ code, message }: { readonly code: string; readonly message: string }): string {
  if (code === 'commander.help') return 'Missing command.';
  return toSentence(
    message
      .replace(/^error: /, '')
      .replace(/'(--?[\w-]+)=[^']*'/, "'$1'")
      .replace(/\s*\n\s*/g, ' '),
  );
}

export function toSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/(?<![.?])$/, '.')}`;
}

/** What commander found wrong with a command line, as a sentence, without values: one may be a misplaced secret. */
export function explainUsage({ code, message }: { readonly code: string; readonly message: string }): string {
  if (code === 'commander.help') return 'Missing command.';
  return toSentence(
    message
      .replace(/^error: /, '')
      .replace(/'(--?[\w-]+)=.*'/s, "'$1'")
      .replace(/(argument|value) '.*' is invalid/s, '$1 is invalid')
      .replace(/\s*\n\s*/g, ' '),
  );
}

export function toSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/(?<![.?])$/, '.')}`;
}

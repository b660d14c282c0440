const SHOWN_START = 3;
const SHOWN_END = 4;

/**
 * The label of a secret: its first 3 and last 4 characters around `...`, or fewer, because at most a quarter of the
 * secret is shown.
 */
export function maskSecret(secret: string): string {
  const shown = Math.min(SHOWN_START + SHOWN_END, Math.floor(secret.length / 4));
  const start = Math.min(SHOWN_START, Math.floor(shown / 2));
  const end = Math.min(SHOWN_END, shown - start);
  return `${secret.slice(0, start)}...${secret.slice(secret.length - end)}`;
}

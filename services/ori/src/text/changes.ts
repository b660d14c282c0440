import type { Change } from '../core/arrival.ts';

const SHOWN_MAX = 120;

/** Describes a change. May contain text of the user, which the caller escapes. */
export function tellChange({ field, change, sent, arrived }: Change): string {
  switch (change) {
    case 'changed': {
      const as = arrived === undefined ? 'arrived changed' : `arrived as ${shown(arrived)}`;
      return `${field}: sent${sent === undefined ? '' : ` ${shown(sent)}`}, ${as}`;
    }
    case 'added':
      return field === 'query' ? 'query: none was sent, and one arrived' : `${field}: not sent, and arrived`;
    case 'lost':
      return field === 'body' ? `body: sent ${sent}, arrived empty` : `${field}: sent, and did not arrive`;
    case 'repeated':
      return `${field}: sent once, arrived more than once`;
    case 'emptied':
      return `${field}: sent, arrived empty`;
  }
}

function shown(text: string): string {
  if (text === '') return '(empty)';
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX - 1)}…` : text;
}

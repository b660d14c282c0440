import type { Header } from './proof.ts';

type HeaderChange = (headers: readonly Header[]) => readonly Header[];

/** Replaces the value of a header in place. */
export function replace(name: string, value: string): HeaderChange {
  return (headers) => headers.map((header) => (header[0] === name ? [name, value] : header));
}

/** Derives a header's value from its current one. */
export function alter(name: string, change: (value: string) => string): HeaderChange {
  return (headers) => headers.map((header) => (header[0] === name ? [name, change(header[1])] : header));
}

export function rename(name: string, to: string): HeaderChange {
  return (headers) => headers.map((header) => (header[0] === name ? [to, header[1]] : header));
}

export function drop(...names: string[]): HeaderChange {
  return (headers) => headers.filter(([name]) => !names.includes(name));
}

export function append(...added: Header[]): HeaderChange {
  return (headers) => [...headers, ...added];
}

/** Sends a header twice, the second time with the name `as`. */
export function repeat(name: string, as = name): HeaderChange {
  return (headers) =>
    headers.flatMap((header) => (header[0] === name ? [header, [as, header[1]]] : [header]));
}

/** Applies all of these in order. */
export function changes(...list: HeaderChange[]): HeaderChange {
  return (headers) => list.reduce((changed, change) => change(changed), headers);
}

import type { EndedKeys, KeyLine } from '@ori/administration/ended-keys';
import type { Context } from './context.ts';

/** Reports a change that ends access, with a line for each key that it ended and each that goes on. */
export function reportEnding(
  admin: Context,
  value: object,
  note: string,
  { ended, remaining }: EndedKeys,
): void {
  const told = (state: string, keys: readonly KeyLine[]) =>
    keys.map(
      ({ hash, label, kind, name }) => `${state} ${kind} key ${hash} ${label} ${JSON.stringify(name)}`,
    );
  const left = remaining.length === 0 ? '' : ' To end a key that remains: ori-admin key disable HASH.';
  admin.report(
    { ...value, keys_ended: ended, keys_remaining: remaining },
    { lines: [...told('ended', ended), ...told('remains', remaining)], note: `${note}${left}` },
  );
}

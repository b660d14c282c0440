import { z } from 'zod';
import { notFound } from '../callers/caller.ts';

/** The record that a path names. An id that is not a UUID does not exist. */
export function requireUuid(path: Readonly<Record<string, string>>): string {
  const id = z.uuid().safeParse(path['id']);
  if (!id.success) throw notFound();
  return id.data;
}

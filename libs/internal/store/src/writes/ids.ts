import { createHash, randomInt } from 'node:crypto';
import { z } from 'zod';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTH = 22;

export type IdPrefix = 'org' | 'ws' | 'user' | 'int' | 'key';

/** A new id such as `int_4fzZ…`: 131 random bits in letters and digits, so that no id can be guessed. */
export function newId(prefix: IdPrefix): string {
  const characters = Array.from({ length: LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length)));
  return `${prefix}_${characters.join('')}`;
}

/** The alphabet of ids in a path and in a proof (proof format, section 1). */
export const idSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/,
    'expected 1 to 128 of A-Z a-z 0-9 _ -, the first a letter or digit',
  );

export const nameSchema = z
  .string()
  .max(255, 'expected at most 255 characters')
  .regex(/\S/, 'expected a name that is not blank');

/** A name for addresses: unique in its organization. */
export const slugSchema = z
  .string()
  .max(100, 'expected at most 100 characters')
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'expected words of a-z 0-9, joined by single hyphens');

const SLUG_MAX = 100;
const DIGEST = 16;
/** A name that loses nothing but its case, and hyphens for spaces. */
const PLAIN = /^[a-z0-9]+([ -][a-z0-9]+)*$/i;

/** The slug of a name: `Analytical Engines` gives `analytical-engines`. A name that would lose more carries a digest. */
export function slugOf(name: string): string {
  const isPlain = PLAIN.test(name) && name.length <= SLUG_MAX;
  return isPlain ? name.toLowerCase().replaceAll(' ', '-') : distinctSlugOf(name);
}

/** A slug that no other name gives: `Łódź` gives `odz-` and 64 bits of its SHA-256, in hex. */
export function distinctSlugOf(name: string, max: number = SLUG_MAX): string {
  const words =
    name
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST);
  const legible = words.join('-').slice(0, max - DIGEST - 1);
  return [...legible.split('-').filter((word) => word !== ''), digest].join('-');
}

const FILE_PART_MAX = 64;

/** A part of a file's name that no other text gives, also where the case of names does not count. */
export function filePartOf(text: string): string {
  const isDistinct = slugSchema.safeParse(text).success && text.length <= FILE_PART_MAX;
  return isDistinct ? text : distinctSlugOf(text, FILE_PART_MAX);
}

export const descriptionSchema = z.string().max(1000, 'expected at most 1000 characters').nullable();

/** Unix seconds. */
export const secondsSchema = z.int('expected whole Unix seconds').min(0).max(999_999_999_999);

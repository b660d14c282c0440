import type { Row } from './row.ts';
import { signRow } from './rows/sign.ts';

/** Every comparison, in the order of the table. */
export const ROWS: readonly Row[] = [signRow];

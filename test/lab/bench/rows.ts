import type { Row } from './row.ts';
import { costRow } from './rows/cost.ts';
import { signRow } from './rows/sign.ts';
import { verifyRow } from './rows/verify.ts';

/** Every comparison, in the order of the table. */
export const ROWS: readonly Row[] = [costRow, signRow, verifyRow];

import type { Row } from './row.ts';
import { costRow } from './rows/cost.ts';
import { guardRow } from './rows/guard.ts';
import { signGatewayRow, signRow } from './rows/sign.ts';
import { signBoundRow } from './rows/sign-bound.ts';
import { verifyRow } from './rows/verify.ts';

/** Every comparison, in the order of the table. */
export const ROWS: readonly Row[] = [costRow, signRow, signBoundRow, signGatewayRow, guardRow, verifyRow];

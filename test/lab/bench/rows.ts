import { answersRow } from '../../wings/bench/answers.ts';
import { logRow } from '../../wings/bench/log.ts';
import { pythonRow } from '../../wings/bench/python.ts';
import type { Row } from './row.ts';
import { costRow } from './rows/cost.ts';
import { garbageRow } from './rows/garbage.ts';
import { guardRow } from './rows/guard.ts';
import { signGatewayRow, signRow } from './rows/sign.ts';
import { signBoundRow } from './rows/sign-bound.ts';
import { startRow } from './rows/start.ts';
import { storesRow } from './rows/stores.ts';
import { verifyRow } from './rows/verify.ts';

/** Every comparison, in the order of the table. */
export const ROWS: readonly Row[] = [
  costRow,
  garbageRow,
  signRow,
  signBoundRow,
  signGatewayRow,
  guardRow,
  verifyRow,
  pythonRow,
  answersRow,
  logRow,
  storesRow,
  startRow,
];

import type { Row } from './row.ts';
import { answersRow } from './rows/answers.ts';
import { costRow } from './rows/cost.ts';
import { guardRow } from './rows/guard.ts';
import { logRow } from './rows/log.ts';
import { signGatewayRow, signRow, signUnseenRow } from './rows/sign.ts';
import { signBoundRow } from './rows/sign-bound.ts';
import { signLatencyRow } from './rows/sign-latency.ts';
import { startRow } from './rows/start.ts';
import { verifyRow } from './rows/verify.ts';

/** Every comparison, in the order of the table. */
export const ROWS: readonly Row[] = [
  costRow,
  signRow,
  signUnseenRow,
  signBoundRow,
  signGatewayRow,
  signLatencyRow,
  guardRow,
  verifyRow,
  answersRow,
  logRow,
  startRow,
];

import type { Row } from './row.ts';
import { signRow } from './rows/sign.ts';
import { signGatewayRow } from './rows/sign-gateway.ts';
import { signLatencyRow } from './rows/sign-latency.ts';
import { signPeerRow } from './rows/sign-peer.ts';
import { signUnseenRow } from './rows/sign-unseen.ts';

/** Every comparison, in the order of the table. */
export const ROWS: readonly Row[] = [signRow, signPeerRow, signUnseenRow, signGatewayRow, signLatencyRow];

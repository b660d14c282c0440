import { runContest } from '../contest.ts';
import type { Finding, Mark, Row } from '../row.ts';

const PEERS: readonly (readonly [title: string, peer: string, mark?: Mark])[] = [
  ['the signature alone', 'raw', { atLeast: 0.88 }],
  ['a JWT', 'jose', { atLeast: 1.3 }],
  ['RFC 9421', 'http-message-signatures', { atLeast: 1.3 }],
  ['Web Bot Auth', 'web-bot-auth', { atLeast: 1.3 }],
  ['an HMAC, no public key', 'standardwebhooks'],
];

/** `verifier.verify` of version 2 over 1 KiB with a memory store, against the bare signature and against other protocols. */
export const verifyRow: Row = {
  name: 'verify',
  async run(bench) {
    const peers = PEERS.map(([, peer]) => peer);
    const measured = await runContest(bench, 'verify', ['verify', ...peers]);
    const series = (name: string) => ({ name, rounds: measured[name] ?? [] });
    return PEERS.map(
      ([title, peer, mark]): Finding => ({
        title,
        unit: 'per CPU s',
        ours: series('verify'),
        theirs: series(peer),
        ...(mark && { mark }),
      }),
    );
  },
};

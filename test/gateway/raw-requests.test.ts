import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { NGINX, startDaemonGateway, startGateway } from '../env/gateway.ts';
import { BODY_SHA256, startWorld, type World } from '../env/world.ts';
import { askRaw, type RawReply, requestBytes } from './ask-raw.ts';
import { type Arrival, startJudgingDaemon } from './judging-daemon.ts';
import { type Parts, RAW_CASES, type RawCase } from './raw-cases.ts';

const BODY = '{"prompt":"hello"}';
const SHA256 = createHash('sha256').update(BODY).digest('hex');

/** The path of each case contains its index, so that arriving requests can be identified. */
const CASES = RAW_CASES.map((raw, index) => {
  const number = String(index).padStart(3, '0');
  return { ...raw, path: `/api/case-${number}`, elsewhere: `/api/hidden-${number}` };
});
type Case = (typeof CASES)[number];

/** Sent concurrently, because some are refused only after a timeout. */
async function sendAll(port: number, partsOf: (one: Case) => Parts): Promise<Map<string, RawReply>> {
  const replies = CASES.map(async (one) => [one.name, await askRaw(port, one.bytes(partsOf(one)))] as const);
  return new Map(await Promise.all(replies));
}

function lines(headers: Parts['proof']): string {
  return headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
}

function isRefused(fate: RawCase['fate'], way: string): boolean {
  return fate === 'refused' || (fate === 'refused by the gateway' && way === 'through the gateway');
}

function requireRefusal(reply: RawReply | undefined): void {
  expect(reply?.status === 0 || (reply?.status ?? 200) >= 400, reply?.head).toBe(true);
}

const TYPE = ['Content-Type', 'application/json'] as const;

describe.skipIf(NGINX === undefined).each(['through the gateway', 'directly'])(
  'a daemon reached %s',
  (way) => {
    let replies: Map<string, RawReply>;
    let arrivals: Arrival[];
    beforeAll(async () => {
      await using daemon = await startJudgingDaemon();
      await using gateway = await startDaemonGateway({ daemons: [daemon.address] });
      const signed = (path: string) => Object.entries(daemon.signer.sign({ path, body: BODY }));
      const port = way === 'directly' ? Number(daemon.address.split(':')[1]) : gateway.port;
      replies = await sendAll(port, ({ path, elsewhere }) => {
        const proof = signed(path);
        const hidden = requestBytes(`POST ${elsewhere} HTTP/1.1`, [TYPE, ...signed(elsewhere)], BODY);
        return { path, proof, hidden, body: BODY, head: lines([TYPE, ...proof]) };
      });
      arrivals = daemon.takeArrivals();
    });

    it.each(CASES)('refuses or is not harmed by $name', ({ name, fate, path, elsewhere }) => {
      expect(arrivals.filter(({ target }) => target.startsWith(elsewhere))).toEqual([]);
      const accepted = arrivals.filter(
        ({ target, verdict }) => target.startsWith(path) && verdict === 'accepted',
      );
      const here = accepted.filter(({ target }) => target === path);
      expect(accepted).toEqual(here);
      if (fate === 'refused') {
        expect(here).toEqual([]);
        requireRefusal(replies.get(name));
      } else {
        expect([
          [],
          [{ method: 'POST', target: path, bodySha256: SHA256, verdict: 'accepted' }],
        ]).toContainEqual(here);
      }
    });
  },
);

describe.skipIf(NGINX === undefined).each(['through the gateway', 'directly'])(
  'a signer reached %s',
  (way) => {
    let replies: Map<string, RawReply>;
    let audit: string;
    beforeAll(async () => {
      await using world: World = await startWorld({
        environment: { TRUST_GATEWAY: String(way !== 'directly') },
      });
      const address = new URL(world.baseUrl).host;
      await using gateway = await startGateway({ signers: [address], management: ['127.0.0.1:9'] });
      const port = way === 'directly' ? Number(address.split(':')[1]) : gateway.port;
      const proof = [['Authorization', `Bearer ${await world.token()}`]] as const;
      replies = await sendAll(port, ({ path, elsewhere }) => {
        const bodyOf = (route: string) =>
          JSON.stringify({ bodySha256: BODY_SHA256, route: { method: 'POST', path: route } });
        const hidden = requestBytes(`POST ${world.signPath} HTTP/1.1`, [TYPE, ...proof], bodyOf(elsewhere));
        return { path: world.signPath, proof, hidden, body: bodyOf(path), head: lines([TYPE, ...proof]) };
      });
      audit = await world.audit();
    });

    it.each(CASES)('refuses or is not harmed by $name', ({ name, fate, path, elsewhere }) => {
      expect(audit).not.toContain(`"${elsewhere}"`);
      const proofs = audit.split(`"path":"${path}"`).length - 1;
      expect(proofs).toBeLessThanOrEqual(1);
      if (isRefused(fate, way) && !ONLY_OF_PROOFS.has(name)) {
        expect(proofs).toBe(0);
        requireRefusal(replies.get(name));
      }
    });
  },
);

/** Cases that matter only to a daemon: its path is signed, while the signer's is only routed. */
const ONLY_OF_PROOFS = new Set<RawCase['name']>(['a path and a query']);

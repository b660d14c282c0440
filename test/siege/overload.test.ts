import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NGINX } from '../env/gateway.ts';
import { startShippedWorld } from '../shipped/world.ts';
import {
  DisposableAgent,
  forgetPeak,
  honestErrands,
  MEMORY_LIMIT_BYTES,
  MEMORY_SHARE,
  peakBytes,
  serveAll,
} from './honest.ts';
import type { Aftermath, Storm } from './storm.ts';

const SIEGE_MS = Number(process.env['OVERLOAD_MS'] ?? 8000);
/** How many times what the deployment answers calm. */
const TIMES = Number(process.env['OVERLOAD_TIMES'] ?? 3);
/** For comparison: `off` sheds nobody. */
const SHEDS = process.env['OVERLOAD_SHEDDING'] !== 'off';
const CALM_MS = 1500;
const ACCOUNTS = 1000;
/** A machine that others load starves the members too, and the short run is half onset. */
const SHARE = Number(process.env['SIEGE_SHARE'] ?? 0.4);

test.skipIf(NGINX === undefined)(
  'members that were lately served are served while strangers send more than can be answered',
  { timeout: SIEGE_MS + 120_000 },
  async () => {
    await using world = await startShippedWorld(
      {},
      { requestsPerSecond: 50, behindBalancer: true },
      SHEDS ? {} : { OVERLOAD_DELAY_MS: '600000' },
    );
    using agent = new DisposableAgent();
    const errands = await honestErrands(world, agent.agent);
    const tokens = await Promise.all(
      Array.from({ length: ACCOUNTS }, (_, at) =>
        world.issuer.token({ subject: `stranger-${at}`, expiresInSeconds: 36_000 }),
      ),
    );
    const path = `/v1/interns/${world.demo.internId}/daemon/sign`;
    const attacker = fork(join(import.meta.dirname, 'storm.ts'));
    const storm = async (order: Pick<Storm, 'perSecond' | 'atOnce' | 'ms'>): Promise<Aftermath> => {
      attacker.send({ port: world.gateway.port, path, tokens, ...order });
      return (await once(attacker, 'message'))[0];
    };
    const services = [...world.signers, world.management];
    const pids = services.map(({ pid }) => pid);
    try {
      const calm = await storm({ perSecond: undefined, atOnce: 64, ms: CALM_MS });
      const perSecond = (calm.answered / CALM_MS) * 1000;
      const before = await serveAll(errands, 1500);
      for (const { pid } of services) forgetPeak(pid);
      const [honest, aftermath] = await Promise.all([
        serveAll(errands, SIEGE_MS),
        storm({ perSecond: perSecond * TIMES, atOnce: 8000, ms: SIEGE_MS }),
      ]);
      const peak = Math.max(...services.map(({ pid }) => peakBytes(pid)));
      const share = honest.right / Math.max(1, honest.answered);
      const delays = await Promise.all(
        world.signers.map(async (signer) =>
          (await (await fetch(`http://${signer.opsAddress}/metrics`)).text()).match(
            /^http_server_(accept_delay_seconds|budget_exhausted_total.budget="overload".) .*/gm,
          ),
        ),
      );
      console.log(
        `overload: ${perSecond.toFixed(0)}/s calm; ${TIMES} times that for ${SIEGE_MS / 1000} s: ` +
          `${JSON.stringify(aftermath)}; honest ${honest.right} of ${honest.answered} (${(100 * share).toFixed(2)} %), ` +
          `worst ${honest.worstMs.toFixed(0)} ms (calm ${before.worstMs.toFixed(0)} ms), peak ${(peak / 2 ** 20).toFixed(0)} MiB`,
        delays,
      );
      if (!SHEDS) return;
      // OriShedding and OriOverloaded fire on these.
      expect(String(delays)).toMatch(/budget="overload"} [1-9]/);
      expect(share).toBeGreaterThanOrEqual(SHARE);
      expect(services.map(({ pid }) => pid)).toEqual(pids);
      expect(peak).toBeLessThan(MEMORY_SHARE * MEMORY_LIMIT_BYTES);
    } finally {
      attacker.kill();
    }
  },
);

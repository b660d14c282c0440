import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { keepAnswers } from '@ori/verifier/answers';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { guarded, openSignedInWorld } from '../../e2e/cli-world.ts';
import { type Cut, startCuttingHop } from '../../env/cutting-hop.ts';
import { createRandom } from '../../lab/exactly-once/random.ts';
import { answersOf, bridgeOf, environmentOf } from '../mcp/mcp-world.ts';

/** Connections that each test cuts; 200 by hand. */
const CUTS = Number(process.env['CUTS'] ?? 20);
const SEED = process.env['SEED'] ?? 'lost answers';
const { world, home } = await openSignedInWorld();

/**
 * Seeded places in the request or the answer of half of the calls and a quarter of the questions. One request of ten arrives late. The
 * first call arrives, which shows that the daemon keeps answers, and so does each that is signed again, because it is so once.
 */
function planOf(random: ReturnType<typeof createRandom>) {
  let mayLose = false;
  return (head: string): Cut | undefined => {
    const isQuestion = head.startsWith('POST /.well-known/ori/calls/');
    const isCut = random.chance(isQuestion ? 0.25 : 0.5);
    const cut = random.chance(0.5) ? { request: random.below(900) } : { answer: random.below(1000) };
    const plan = random.chance(0.1) ? { late: random.below(60) } : cut;
    if (isQuestion) return isCut ? plan : undefined;
    const isLosing = isCut && (mayLose || 'answer' in plan);
    mayLose = !(isLosing && !('answer' in plan));
    return isLosing ? plan : undefined;
  };
}

it.each([
  ['JSON', false],
  ['a stream', true],
])(
  `an MCP client gets every answer once, as %s, at ${CUTS} cut connections`,
  { timeout: 600_000 },
  async (_, isStream) => {
    const random = createRandom(`${SEED} ${isStream}`);
    const ran = new Map<number, number>();
    const types = new Set<string | null>();
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: 'cut', version: '1.0.0' });
      server.registerTool('run', { inputSchema: z.object({ n: z.number() }) }, async ({ n }, { mcpReq }) => {
        ran.set(n, (ran.get(n) ?? 0) + 1);
        const progressToken = mcpReq._meta?.progressToken;
        if (isStream && progressToken !== undefined)
          await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: n } });
        return { content: [{ type: 'text', text: `${n} ${'x'.repeat(300)}` }] };
      });
      return server;
    });
    await using daemon = await guarded(world, answersOf(handler, types), { answers: keepAnswers() });
    await using hop = await startCuttingHop(() => Number(new URL(daemon.url).port), planOf(random));
    const client = new Client(
      { name: 'cut', version: '1.0.0' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    await client.connect(new StdioClientTransport(bridgeOf(environmentOf(home, world, hop.url))));
    onTestFinished(() => client.close());
    let calls = 0;
    for (; hop.cuts() < CUTS; calls += 1) {
      const { content } = await client.callTool(
        { name: 'run', arguments: { n: calls } },
        { onprogress: () => undefined },
      );
      expect(content).toMatchObject([{ text: `${calls} ${'x'.repeat(300)}` }]);
    }
    await hop.settled();
    expect(types.has('text/event-stream')).toBe(isStream);
    expect([...ran.values()]).toEqual(Array.from({ length: calls }, () => 1));
  },
);

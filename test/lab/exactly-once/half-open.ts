import { type Passage, startTcpProxy } from '../../env/tcp-proxy.ts';
import type { Stage } from './stage.ts';

/** Routes all verifiers through a proxy that then drops one direction, for a while or until the connection dies. */
export async function halfOpen(
  { pause, random, worst, goTo }: Stage,
  server: { readonly url: string; readonly port: number },
  passage: Passage,
): Promise<void> {
  await using proxy = await startTcpProxy(server.port);
  goTo(server.url.replace(`:${server.port}`, `:${proxy.port}`));
  await pause(400);
  worst();
  proxy.set(passage);
  await pause(random.between(50, 1000));
  if (random.chance(0.5)) proxy.cut();
  proxy.set('open');
  worst();
  await pause(300);
  goTo(server.url);
}

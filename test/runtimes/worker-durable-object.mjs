// The Worker of the README, and a path at which its replay store is tested.
import { requireReplayStore } from '@ori/verifier/testing';
import daemon, { replay, SpentProofs } from './durable-object.mjs';

export { SpentProofs };

async function conform() {
  try {
    await requireReplayStore({
      open: () => replay,
      clock: 'real',
      maxAgeSeconds: 1,
      clockToleranceSeconds: 1,
    });
    return 'conforms';
  } catch (error) {
    return `${error.message}: ${error.cause}`;
  }
}

// biome-ignore lint/style/noDefaultExport: a Worker has one.
export default {
  fetch: async (request, ...rest) =>
    request.url.endsWith('/conformance') ? new Response(await conform()) : daemon.fetch(request, ...rest),
};

import cluster from 'node:cluster';
import { memoryReplayStore } from '../../../libs/public/verifier/src/replay/memory/store.ts';

/** Reports to its parent test what a node:cluster worker gets. */
if (cluster.isPrimary) {
  const worker = cluster.fork();
  worker.on('message', (said) => {
    process.send?.(said);
    worker.kill();
  });
} else {
  try {
    memoryReplayStore();
    process.send?.({ name: 'no error' });
  } catch (error) {
    process.send?.({ name: error instanceof Error ? error.name : 'no error' });
  }
}

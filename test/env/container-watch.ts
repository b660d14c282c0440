import { text } from 'node:stream/consumers';

/**
 * Waits for the end of its standard input, that is for the end of the process that started it, and then removes the
 * containers whose ids it was told. Those that are gone already are no trouble.
 */
const ids = (await text(process.stdin)).split('\n').filter(Boolean);
if (ids.length > 0) {
  const { getContainerRuntimeClient } = await import('testcontainers');
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const removing = ids.map((id) => dockerode.getContainer(id).remove({ force: true, v: true }));
  await Promise.allSettled(removing);
}

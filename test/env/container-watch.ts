import { text } from 'node:stream/consumers';

/**
 * Waits until its standard input closes, that is, until its parent exits, and then removes the
 * containers whose ids it has read. Containers that no longer exist are ignored.
 */
const ids = (await text(process.stdin)).split('\n').filter(Boolean);
if (ids.length > 0) {
  const { getContainerRuntimeClient } = await import('testcontainers');
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const removing = ids.map((id) => dockerode.getContainer(id).remove({ force: true, v: true }));
  await Promise.allSettled(removing);
}

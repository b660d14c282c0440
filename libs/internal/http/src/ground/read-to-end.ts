import type { Socket } from 'node:net';

/**
 * For the connection of a client. A server may answer and close before it has read the request. Node would then fail to write the rest,
 * and discard what it has not read. Here a failed write never ends: the answer is read, and after it the end of the connection.
 */
export function readToEnd(socket: Socket): void {
  // One that is kept alive comes with each request.
  if (Object.hasOwn(socket, '_write')) return;
  const { _write, _writev } = socket;
  const onWritten = (done: () => void) => (error?: Error | null) =>
    error ? void socket.once('end', () => socket.destroy()) : done();
  socket._write = (chunk, encoding, done) => _write.call(socket, chunk, encoding, onWritten(done));
  socket._writev = (chunks, done) => _writev?.call(socket, chunks, onWritten(done));
}

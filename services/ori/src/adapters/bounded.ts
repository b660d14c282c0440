/** All of a stream. Throws what `tooLong` makes if it is longer than `bytesMax`, without reading the rest. */
export async function readBounded(
  stream: AsyncIterable<Uint8Array>,
  bytesMax: number,
  tooLong: () => Error,
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

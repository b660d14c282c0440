/**
 * `fetch` with a limit on the size of the answer: does not follow redirects, and fails on a body beyond the limit.
 */
export function boundedFetch(
  bytesMax: number,
  fetch = globalThis.fetch,
): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const response = await fetch(url, { ...init, redirect: 'manual' });
    if (response.body === null) return response;
    let bytes = 0;
    const limit = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length;
        if (bytes > bytesMax) controller.error(new Error(`the answer is larger than ${bytesMax} bytes`));
        else controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(limit), response);
  };
}

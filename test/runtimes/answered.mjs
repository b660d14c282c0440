/** The answer of a handler to what the member `answer` of a JSON body asks for (test/conformance/README.md, Daemons). */
export async function answered({ proof, body } = {}) {
  const { status = 200, headers = {}, afterMs = 0, bytes = 0 } = wantedBy(body);
  if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs));
  const text = JSON.stringify({ user: proof?.user, bytes: body?.byteLength }).padEnd(bytes);
  return { status, headers, text };
}

function wantedBy(body) {
  try {
    return JSON.parse(new TextDecoder().decode(body)).answer ?? {};
  } catch {
    return {};
  }
}

// An MCP client that carries out the steps of STEPS, by the command COMMAND or at the address URL, each
// within LIMIT seconds, and prints a line of JSON for each.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const { COMMAND, URL: address, STEPS, LIMIT, ...env } = process.env;
const client = new Client(
  { name: 'matrix', version: '1.0.0' },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
);
client.setRequestHandler('elicitation/create', async () => ({
  action: 'accept',
  content: { answer: 'yes' },
}));

async function step(name, work) {
  const from = performance.now();
  const print = (said) =>
    console.log(JSON.stringify({ step: name, ms: Math.round(performance.now() - from), ...said }));
  try {
    print({ ok: true, out: String((await work()) ?? '') });
  } catch (error) {
    print({ ok: false, out: `${error.name}: ${error.message}`.slice(0, 300) });
  }
}

function textOf({ content, isError }) {
  const text = content?.[0]?.text ?? '';
  return text.length > 300 ? text.length : `${isError ? 'error: ' : ''}${text}`;
}

async function call(name, args = {}, options = { timeout: Number(LIMIT) * 1000 }) {
  return textOf(await client.callTool({ name, arguments: args }, options));
}

async function cancel() {
  const over = new AbortController();
  const cancelled = call('slow', { seconds: 20 }, { signal: over.signal });
  setTimeout(() => over.abort(), 200);
  return cancelled.then(
    () => 0,
    () => 1,
  );
}

const steps = {
  list: async () => (await client.listTools()).tools.length,
  call,
  async cancel(times) {
    let cancelled = 0;
    for (let left = times; left > 0; left -= 50)
      for (const one of await Promise.all(Array.from({ length: Math.min(50, left) }, cancel)))
        cancelled += one;
    return cancelled;
  },
  many: async (count) => {
    const texts = Array.from({ length: count }, (_, i) => `n${i}`);
    const answers = await Promise.all(texts.map((text) => call('echo', { text })));
    return answers.filter((answer, i) => answer === texts[i]).length;
  },
  sleep: (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000)),
};

await step('connect', () =>
  client.connect(
    address
      ? new StreamableHTTPClientTransport(new URL(address))
      : new StdioClientTransport({
          command: JSON.parse(COMMAND)[0],
          args: JSON.parse(COMMAND).slice(1),
          env,
          stderr: 'inherit',
        }),
  ),
);
for (const [name, kind, ...rest] of JSON.parse(STEPS)) await step(name, () => steps[kind](...rest));
await step('close', () => client.close());
process.exit();

import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createRemoteKeySet, createVerifier, memoryReplayStore } from '@ori/verifier';
import { requireProof } from '@ori/verifier/node';

const keys = createRemoteKeySet('https://ori.example/v1/interns/int_7Qm2/daemon/jwks.json');
const verifier = createVerifier({ internId: 'int_7Qm2', keys, replay: memoryReplayStore() });

function createMcpServer() {
  const server = new McpServer({ name: 'greeter', version: '1.0.0' });
  server.registerTool('whoami', { description: 'Says who is calling.' }, ({ authInfo }) => ({
    content: [{ type: 'text', text: String(authInfo?.extra?.['user']) }],
  }));
  return server;
}

const handle = requireProof(verifier, { bodyBytesMax: 4_000_000 }, async (req, res, { proof, body }) => {
  const server = createMcpServer();
  const transport = new StreamableHTTPServerTransport();
  res.on('close', () => server.close());
  await server.connect(transport);
  const extra = { user: proof.user, nonce: proof.nonce };
  const auth = { token: '', clientId: proof.internId, scopes: [], extra };
  await transport.handleRequest(Object.assign(req, { auth }), res, JSON.parse(body.toString()));
});
createServer(handle).listen(8080);

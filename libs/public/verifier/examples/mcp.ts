import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { createRemoteKeySet, createVerifier, memoryReplayStore } from '@ori/verifier';
import { requireProof } from '@ori/verifier/node';

const keys = createRemoteKeySet('https://ori.example/v1/interns/int_7Qm2/daemon/jwks.json');
const verifier = createVerifier({ internId: 'int_7Qm2', keys, replay: memoryReplayStore() });

const answer = toNodeHandler(
  createMcpHandler(() => {
    const server = new McpServer({ name: 'greeter', version: '1.0.0' });
    server.registerTool('whoami', { description: 'Says who is calling.' }, ({ http }) => ({
      content: [{ type: 'text', text: String(http?.authInfo?.extra?.['user']) }],
    }));
    return server;
  }),
);

const handle = requireProof(verifier, { bodyBytesMax: 4_000_000 }, async (req, res, { proof, body }) => {
  const extra = { user: proof.user, nonce: proof.nonce };
  const auth = { token: '', clientId: proof.internId, scopes: [], extra };
  await answer(Object.assign(req, { auth }), res, JSON.parse(body.toString()));
});
createServer(handle).listen(8080);

import { Agent, request } from 'node:http';
import { pipeline } from 'node:stream';
import { listen } from './listen.ts';

// The least that a proxy of Node does: passes each request on to the port that it is told, and checks nothing.

const port = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true });
listen((req, res) => {
  const { method, url: path, headers } = req;
  const passed = request({ host: '127.0.0.1', port, agent, method, path, headers }, (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    pipeline(answer, res, () => {});
  });
  passed.on('error', () => res.destroy());
  pipeline(req, passed, () => {});
});

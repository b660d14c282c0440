import { listen } from './listen.ts';

// A daemon behind a proxy: reads the body, and answers with the verified user. It checks nothing.

listen((req, res) => {
  const user = String(req.headers['x-ori-verified-user'] ?? 'nobody');
  req.resume().on('end', () => res.writeHead(200, { 'Content-Length': user.length }).end(user));
});

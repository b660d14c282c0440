import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@ori/test-env/ports';
import { rolldown } from 'rolldown';
import { jwksUrl, signer, startProgram } from './daemons.ts';
import { RUNTIMES } from './setup.ts';

/** Serves a recipe that does not listen, as its platform does. */
const SERVED: Readonly<Record<string, string>> = {
  'nest.ts': `await import('./RECIPE'); console.log('port PORT');`,
  'trpc.mjs': `
    const { serve } = await import('@hono/node-server');
    const { default: recipe } = await import('./RECIPE');
    serve({ ...recipe, port: PORT, hostname: '127.0.0.1' }, () => console.log('port PORT'));`,
  'lambda.mjs': `
    const { createServer } = await import('node:http');
    const { text } = await import('node:stream/consumers');
    const { handler } = await import('./RECIPE');
    createServer(async (req, res) => {
      const [rawPath, rawQueryString = ''] = req.url.split('?');
      const body = Buffer.from(await text(req)).toString('base64');
      const requestContext = { http: { method: req.method } };
      const event = { requestContext, rawPath, rawQueryString, headers: req.headers, body, isBase64Encoded: true };
      const answer = await handler(event);
      res.writeHead(answer.statusCode, answer.headers).end(answer.body);
    }).listen(PORT, '127.0.0.1', () => console.log('port PORT'));`,
};

export const RECIPES: readonly string[] = Object.keys(SERVED);

/** What a daemon's author copies. */
export const EXAMPLES = new URL('../../libs/public/verifier/examples/', import.meta.url);

/** The daemon of an example of the verifier, with its addresses replaced. */
export async function startRecipe(name: string) {
  const port = String(await freePort());
  const source = (await readFile(new URL(name, EXAMPLES), 'utf8'))
    .replaceAll('int_7Qm2', signer.internId)
    .replace(/'https:[^']*'/, `'${jwksUrl}'`)
    .replace('8080', port);
  const input = join(RUNTIMES, `recipe-${name}`);
  await writeFile(input, source);
  await using build = await rolldown({
    input,
    platform: 'node',
    external: /^[^./]/,
    transform: { decorator: { legacy: true } },
  });
  const recipe = `recipe-${name}-built.mjs`;
  await build.write({ file: join(RUNTIMES, recipe), codeSplitting: false });
  const server = join(RUNTIMES, `recipe-${name}-server.mjs`);
  await writeFile(server, (SERVED[name] ?? '').replaceAll('RECIPE', recipe).replaceAll('PORT', port));
  return startProgram(name, [process.execPath, server]);
}

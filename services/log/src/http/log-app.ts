import { open } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { BodyError, readBody } from '@ori/http/body';
import { DeadlineError, presentDeadline } from '@ori/http/deadline';
import { sendEnvelope } from '@ori/http/envelope';
import { exchangeOf } from '@ori/http/exchange';
import type { Presentation } from '@ori/http/presentation';
import { createExpressApp, type Route } from '@ori/http/routes';
import { parseTarget } from '@ori/http/target';
import { decodeCommitments, LOOKUP_BYTES_MAX, type LookupAnswer } from '@ori/tlog/lookup';
import { parseTilePath, tilePath } from '@ori/tlog/tile';
import { ifThere } from '../disk/durable-file.ts';
import type { Lookup } from '../disk/lookup.ts';

const NOT_FOUND: Presentation = { status: 404, message: 'Not found.' };
const BAD_REQUEST: Presentation = {
  status: 400,
  message: 'Expected {"commitments":[…]}, each 64 hex digits.',
};
const NO_CHECKPOINT: Presentation = { status: 503, message: 'No checkpoint has been published yet.' };
const TOO_LARGE: Presentation = { status: 413, message: 'The body is too large.' };
const BAD_BODY: Presentation = { status: 400, message: 'The body cannot be read.' };
const FAILED: Presentation = {
  status: 500,
  message: 'The request could not be completed. It may be repeated.',
};

export interface LogAppParts {
  /** The folder of the tiles. */
  readonly folder: string;
  /** The last checkpoint published. */
  checkpoint(): string | undefined;
  readonly lookup: Pick<Lookup, 'find'>;
}

/** Segments of a tile's path after its level: up to four groups of three digits, and a width. */
const TILE_SEGMENTS = ['a', 'b', 'c', 'd', 'e'];

/** The templates of all routes under the log's prefix. */
export function logRoutes(prefix: string): { checkpoint: string; lookup: string; tiles: string[] } {
  return {
    checkpoint: `${prefix}/checkpoint`,
    lookup: `${prefix}/lookup`,
    tiles: TILE_SEGMENTS.map((_, last) => {
      const segments = TILE_SEGMENTS.slice(0, last + 1).map((name) => `{${name}}`);
      return `${prefix}/tile/{level}/${segments.join('/')}`;
    }),
  };
}

/** What tlog-tiles serves, and the lookup: the index and the entry of a commitment. Nothing in it is secret. */
export function createLogApp(prefix: string, { folder, checkpoint, lookup }: LogAppParts): RequestListener {
  const templates = logRoutes(prefix);

  const sendCheckpoint: Route['handler'] = async (_req, res) => {
    const note = checkpoint();
    if (note === undefined) return sendEnvelope(res, NO_CHECKPOINT);
    const body = Buffer.from(note);
    res.writeHead(200, {
      'content-type': 'text/plain; charset=utf-8',
      'content-length': body.length,
      'cache-control': 'no-store',
    });
    res.end(body);
  };

  const sendTile: Route['handler'] = async (req, res) => {
    const tile = parseTilePath(parseTarget(req.originalUrl)?.path.slice(`${prefix}/`.length) ?? '');
    const path = tile && join(folder, tilePath(tile));
    const file = path && (await ifThere(open(path)));
    if (!file) return sendEnvelope(res, NOT_FOUND);
    await using _closed = file;
    res.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-length': (await file.stat()).size,
      'cache-control': 'public, max-age=31536000, immutable',
    });
    if (req.method === 'HEAD') res.end();
    else await pipeline(file.createReadStream(), res);
  };

  const answerLookup: Route['handler'] = async (req, res) => {
    const { deadline } = exchangeOf(req);
    const body = await readBody(req, { bytesMax: LOOKUP_BYTES_MAX, deadline });
    const commitments = decodeCommitments(body.toString());
    if (commitments === undefined) return sendEnvelope(res, BAD_REQUEST);
    const found: Record<string, LookupAnswer['found'][string]> = {};
    for (const commitment of commitments) {
      deadline.check();
      const leaf = await lookup.find(Buffer.from(commitment, 'hex'));
      if (leaf) found[commitment] = { index: leaf.index, entry: Buffer.from(leaf.entry).toString('hex') };
    }
    const answer = Buffer.from(JSON.stringify({ found }));
    res.writeHead(200, {
      'content-type': 'application/json',
      'content-length': answer.length,
      'cache-control': 'no-store',
    });
    res.end(answer);
  };

  return createExpressApp({
    routes: [
      { template: templates.checkpoint, method: 'GET', handler: sendCheckpoint },
      ...templates.tiles.map((template) => ({ template, method: 'GET' as const, handler: sendTile })),
      { template: templates.lookup, method: 'POST', handler: answerLookup },
    ],
    notFound: NOT_FOUND,
    present,
  });
}

/** The answer to a failed request. */
export function present(error: unknown): Presentation {
  if (error instanceof DeadlineError) return presentDeadline(error.deadlineMs);
  if (!(error instanceof BodyError)) return FAILED;
  return error.code === 'body_too_large' ? TOO_LARGE : BAD_BODY;
}

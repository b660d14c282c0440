import type { RequestHead } from '../requirements.ts';
import type { Arrival } from './guard.ts';

export function arrivalOf(request: Request): Arrival {
  return {
    head: headOf(request),
    body: request.body ?? [],
    announcedBytes: Number(request.headers.get('content-length') ?? 0),
    misuse: request.bodyUsed ? 'the body was already read' : undefined,
  };
}

const ORIGIN = /^https?:\/\/[^/?#]*/i;

/** The target as the handler sees it in `request.url`, or '' if `URL` would rewrite its path: some servers normalize, some do not. */
function headOf({ method, url, headers }: Request): RequestHead {
  const target = url.replace(ORIGIN, '');
  const isStable = URL.canParse(url) && new URL(url).pathname === target.split('?', 1)[0];
  return { method, target: isStable ? target : '', rawHeaders: [...headers].flat() };
}

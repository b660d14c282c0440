/** The maximum number of segments in a removed prefix. */
const CUT_MAX = 8;
/** The characters that nginx does not percent-encode when it rewrites a path. */
const ESCAPED = /[^!$&'()*+,./0-9:;=@A-Z[\]_a-z~-]/g;

/** Known rewrites of a path by proxies: candidates for the received path, the most likely first. */
export function pathsLike(path: string, origin: string): string[] {
  const merged = path.replace(/\/{2,}/g, '/');
  const decoded = decode(path);
  const resolved = resolve(merged);
  const normal = resolve(decode(path).replace(/\/{2,}/g, '/'));
  const plain = [
    merged,
    resolved,
    encode(normal),
    normal,
    encode(decode(merged)),
    decoded,
    encode(decoded),
    lower(path),
    upper(path),
  ];
  const guesses = new Set<string>();
  for (const guess of plain) {
    guesses.add(guess);
    guesses.add(guess.endsWith('/') ? guess.slice(0, -1) : `${guess}/`);
  }
  for (const guess of [path, ...plain]) for (const rest of withoutPrefix(guess)) guesses.add(rest);
  guesses.add(path.endsWith('/') ? path.slice(0, -1) : `${path}/`);
  guesses.add(`${origin}${path}`);
  guesses.add('');
  guesses.delete(path);
  return [...guesses];
}

/** The path without its first segments, with and without the slash after them. */
function withoutPrefix(path: string): string[] {
  const segments = path.split('/');
  return segments.slice(1, CUT_MAX + 1).flatMap((_, index) => {
    const rest = segments.slice(index + 2).join('/');
    return [`/${rest}`, `//${rest}`, rest];
  });
}

/** Bytes as characters, as in a server that ignores encodings. */
function decode(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function encode(path: string): string {
  return path.replace(
    ESCAPED,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

function resolve(path: string): string {
  const kept: string[] = [];
  const segments = path.split('/');
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
    if (isLast && (segment === '..' || segment === '.')) kept.push('');
  }
  return `/${kept.filter((_, index) => index > 0).join('/')}`;
}

function lower(path: string): string {
  return path.replace(/%[0-9A-F]{2}/gi, (code) => code.toLowerCase());
}

function upper(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (code) => code.toUpperCase());
}

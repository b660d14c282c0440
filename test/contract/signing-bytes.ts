/** The head of a signing request, with additional header lines. */
export function head(path: string, ...lines: string[]): string {
  return [`POST ${path} HTTP/1.1`, 'Host: api.ori.test', ...lines, '', ''].join('\r\n');
}

/** The envelope's reason in a raw response. */
export function reasonIn(answer: string): string | undefined {
  return /"reason":"(\w+)"/.exec(answer)?.[1];
}

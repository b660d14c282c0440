import type { IncomingMessage } from 'node:http';
import { BodyError, beginBody, drainBody, type ReadBodyOptions } from './body.ts';
import { type JsonBudget, JsonScanner } from './json-scan.ts';

/**
 * Enough for a body with some thousand names, and far below what would delay other requests while it is parsed and
 * validated.
 */
const JSON_BUDGET: JsonBudget = { bytesMax: 512 * 1024, depthMax: 16, valuesMax: 5000 };

/**
 * Reads a JSON body, checking it against a budget as it arrives: by default 512 KiB, 16 levels and 5000 values. Each
 * run of white space between tokens is stored as one space. Data beyond the budget is still counted, so that a body
 * that is also too long is refused for its length. Call it once the caller is known, because it
 * sends `100 Continue`. It checks neither media type nor syntax.
 *
 * @throws as `readChunks` does, and {BodyError} `content_encoding_unsupported` (anything but identity) before a byte is read,
 * `json_beyond_budget` at the end
 */
export async function readJsonBody(
  req: IncomingMessage,
  options: ReadBodyOptions & { json?: JsonBudget },
): Promise<Buffer> {
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    throw new BodyError('content_encoding_unsupported', 'the body has a content encoding');
  }
  let grown = 0;
  const scanner = new JsonScanner(options.json ?? JSON_BUDGET, (bytes) => {
    grown += bytes;
  });
  const whole = beginBody(req, options);
  if (whole !== undefined) scanner.push(whole);
  else {
    await drainBody(req, options, (chunk) => {
      grown = 0;
      scanner.push(chunk);
      return grown;
    });
  }
  if (!scanner.isBeyond) return scanner.text;
  throw new BodyError('json_beyond_budget', 'the JSON is too large, too deep or has too many values');
}

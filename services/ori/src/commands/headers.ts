import type { BodyOptions } from './body-options.ts';
import type { Context } from './context.ts';
import { proveRequest } from './dpop-proof.ts';

/** Prints the headers that authorize one API request of another program, as `curl -H @FILE` reads them. */
export async function headers(
  context: Context,
  method: string,
  address: string,
  options: BodyOptions,
): Promise<void> {
  const { accessToken, proof } = await proveRequest(context, method, address, options);
  const scheme = proof === undefined ? 'Bearer' : 'DPoP';
  const lines = { authorization: `${scheme} ${accessToken}`, ...(proof !== undefined && { dpop: proof }) };
  if (context.json) context.terminal.printJson(lines);
  else context.terminal.print(...Object.entries(lines).map(([name, value]) => `${name}: ${value}`));
}

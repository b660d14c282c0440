import type { Server } from 'node:net';
import { onTestFinished } from 'vitest';
import { type Served, serve } from './serve.ts';

/** Starts a server that ends with the test. */
export async function serveInTest<S extends Server>(server: S): Promise<Served<S>> {
  const served = await serve(server);
  onTestFinished(() => served[Symbol.asyncDispose]());
  return served;
}

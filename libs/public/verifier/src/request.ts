/** The request line and headers as received. */
export interface RequestHead {
  /** `request.method`. */
  readonly method: string | undefined;
  /** The raw request-target, undecoded: `request.url` of node:http, `request.originalUrl` of Express. */
  readonly target: string | undefined;
  /** The raw header list `[name, value, name, value, …]`: `request.rawHeaders`. */
  readonly rawHeaders: readonly string[];
}

/** A request with its whole body, byte for byte as received. */
export interface SignedRequest extends RequestHead {
  readonly body: Uint8Array;
}

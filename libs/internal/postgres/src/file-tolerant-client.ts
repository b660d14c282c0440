import pg from 'pg';

/**
 * pg reads the certificate files that the address names whenever it creates a client. The pool does not catch the
 * exception if one is missing, as in the middle of a renewal, and the process would end: this client does not connect.
 * It always has an error listener, because the server can close it while accepting it, before anything else listens.
 */
export class FileTolerantClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    const failure = failureToRead(config);
    super(failure === undefined ? config : {});
    this.on('error', () => {});
    if (failure !== undefined) {
      this.connect = ((done: (failure: unknown) => void) =>
        process.nextTick(done, failure)) as pg.Client['connect'];
    }
  }
}

function failureToRead(config?: pg.ClientConfig): unknown {
  try {
    new pg.Client(config);
    return undefined;
  } catch (error) {
    return error;
  }
}

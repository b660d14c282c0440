import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An answer as far as the bench looks at it; `text` is the whole of it, as latin1. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Whether the answer says that the request may be repeated: it is, a little later. */
export const isRepeatable = ({ status, text }: Answer): boolean =>
  status === 500 && text.includes('"retryable":true');
export const REPEAT_AFTER_MS = 100;

/**
 * A kept-alive HTTP/1.1 connection that sends requests as ready bytes, one at a time, and reads no more of an answer
 * than its status, its length and whether it is the connection's last: the generator must cost less than what it
 * measures. After a last answer it connects anew.
 */
export class HttpConnection {
  readonly #port: number;
  readonly #buffer = Buffer.allocUnsafeSlow(65_536);
  #socket: Socket;
  #received = '';
  #settle: ((answer: Answer) => void) | undefined;
  #fail: (error: Error) => void;

  private constructor(port: number, fail: (error: Error) => void) {
    this.#port = port;
    this.#fail = fail;
    this.#socket = this.#connect();
  }

  /** @param fail told when the connection ends before its last answer */
  static async open(port: number, fail: (error: Error) => void): Promise<HttpConnection> {
    const connection = new HttpConnection(port, fail);
    await once(connection.#socket, 'connect');
    return connection;
  }

  /** Not before the former answer has come. */
  send(request: string, settle: (answer: Answer) => void): void {
    this.#settle = settle;
    this.#socket.write(request, 'latin1');
  }

  close(): void {
    this.#fail = () => {};
    this.#socket.destroy();
  }

  #connect(): Socket {
    const callback = (bytes: number) => this.#receive(this.#buffer.toString('latin1', 0, bytes));
    const socket = connect({
      port: this.#port,
      host: '127.0.0.1',
      noDelay: true,
      onread: { buffer: this.#buffer, callback },
    });
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => {
      if (socket === this.#socket) this.#fail(new Error('the server closed the connection'));
    });
    return socket;
  }

  #receive(text: string): boolean {
    this.#received = this.#received === '' ? text : this.#received + text;
    const whole = this.#received;
    const headEnd = whole.indexOf('\r\n\r\n');
    if (headEnd === -1) return true;
    const length = /\r\ncontent-length: *(\d+)/i.exec(whole)?.[1];
    if (length === undefined) this.#fail(new Error(`an answer without a length:\n${whole}`));
    if (whole.length < headEnd + 4 + Number(length)) return true;
    this.#received = '';
    if (/\r\nconnection: *close/i.test(whole)) {
      const former = this.#socket;
      this.#socket = this.#connect();
      former.destroy();
    }
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.({ status: Number(whole.slice(9, 12)), text: whole });
    return true;
  }
}

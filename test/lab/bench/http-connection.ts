import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** The parts of a response that the benchmark uses; `text` is the whole response in latin1. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Whether the response is marked as retryable; the request is then sent again after a pause. */
export const isRepeatable = ({ status, text }: Answer): boolean =>
  status === 500 && text.includes('"retryable":true');
export const REPEAT_AFTER_MS = 100;

/**
 * A keep-alive HTTP/1.1 connection that sends prepared bytes, one request at a time, and parses no more of a response
 * than its status, its length and whether it closes the connection: the generator must cost less than what it
 * measures. It reconnects when the server closes the connection after a response.
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

  /** @param fail called if the connection ends before the response is complete */
  static async open(port: number, fail: (error: Error) => void): Promise<HttpConnection> {
    const connection = new HttpConnection(port, fail);
    await once(connection.#socket, 'connect');
    return connection;
  }

  /** Only after the previous response has arrived. */
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
    if (length === undefined) this.#fail(new Error(`a response without Content-Length:\n${whole}`));
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

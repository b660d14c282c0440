import { Writable } from 'node:stream';

/** A stream that records everything written to it, and emits `data` each time. */
export class Sink extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk;
    this.emit('data', chunk);
    done();
  }
}

import { Command as Base } from 'commander';
import { examples } from './help.ts';

/** A command of `ori-admin`, and every command below it. */
export class Command extends Base {
  override createCommand(name?: string): Command {
    return new Command(name);
  }

  /** A block of examples below its help. */
  examples(...lines: readonly string[]): this {
    return this.addHelpText('after', examples(...lines));
  }
}

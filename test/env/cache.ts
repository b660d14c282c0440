import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An `XDG_CACHE_HOME` for programs under test: what one start leaves shortens the next, also of another test and run. */
export const TEST_CACHE_HOME = join(tmpdir(), 'ori-test-cache');

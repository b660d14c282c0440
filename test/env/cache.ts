import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An `XDG_CACHE_HOME` for programs under test, kept between tests and runs to shorten later starts. */
export const TEST_CACHE_HOME = join(tmpdir(), 'ori-test-cache');

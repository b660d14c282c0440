import { writeFile } from 'node:fs/promises';
import { GENERATED_FILE, renderGenerated } from './reference.ts';

await writeFile(GENERATED_FILE, renderGenerated());

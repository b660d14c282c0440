import { fileURLToPath } from 'node:url';

// The packages are installed in the folder above.
const root = fileURLToPath(new URL('..', import.meta.url));

// biome-ignore lint/style/noDefaultExport: Next reads it.
export default { turbopack: { root }, outputFileTracingRoot: root };

import manifest from '../package.json' with { type: 'json' };

/** The version of everything in this repository, which is released together. */
export const VERSION: string = manifest.version;

import manifest from '../package.json' with { type: 'json' };

/** The version of everything in this repository: it is released as one. */
export const VERSION: string = manifest.version;

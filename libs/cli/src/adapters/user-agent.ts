/** The version of this package: package.json's, kept equal by a test, so that no file is read to know it. */
export const VERSION = '0.1.0';
export const USER_AGENT = `ori/${VERSION}`;

export { loadRedisScripts } from './client.ts';
export { issuedKey, issuedValue } from './keys.ts';

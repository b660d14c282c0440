export { POST } from '../../../../../guard.js';
export const runtime = 'nodejs';

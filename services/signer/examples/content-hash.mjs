import { createHash } from 'node:crypto';
export const contentHash = (content) => createHash('sha256').update(content).digest('base64url');

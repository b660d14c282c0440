import { z } from 'zod';

/** SHA-256 of a whole API key, in lower-case hex: identifies a key without revealing it. */
export const ApiKeyHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be 64 characters of 0-9a-f')
  .meta({
    description: 'SHA-256 of the API key, 64 characters of 0-9a-f.',
    example: '5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8',
  });

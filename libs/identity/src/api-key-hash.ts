import { z } from 'zod';

/** SHA-256 of a whole API key, in lower-case hex: identifies a key without revealing it. */
export const ApiKeyHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ description: 'SHA-256 of the API key, 64 characters of 0-9a-f.' });

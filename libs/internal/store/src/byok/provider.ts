import { z } from 'zod';
import { PROVIDERS } from '../vocabulary.ts';

export const Provider = z.enum(PROVIDERS).meta({
  id: 'Provider',
  description: 'Upstream provider slug.',
  example: 'openai',
});
export type Provider = z.infer<typeof Provider>;

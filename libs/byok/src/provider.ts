import { PROVIDERS } from '@ori/store/vocabulary';
import { z } from 'zod';

export const Provider = z.enum(PROVIDERS).meta({
  id: 'Provider',
  description: 'Upstream provider slug.',
  example: 'openai',
});
export type Provider = z.infer<typeof Provider>;

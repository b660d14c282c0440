import process from 'node:process';
import { walkThrough } from '../../../services/standalone/src/person.ts';

/** `BROWSER` of `ori login`: signs in as WHO, or ada. */
const callback = await walkThrough(new URL(process.argv[2] ?? ''), { user: process.env['WHO'] ?? 'ada' });
if (callback === undefined) throw new Error('the provider did not lead back to ori');
await fetch(callback);

import { answer } from '../../env/worker.ts';
import { runLoad } from './load.ts';

// The process of the load generator.

answer(runLoad);

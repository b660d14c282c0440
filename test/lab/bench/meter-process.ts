import { type Counted, readMeter } from './meter.ts';

// Loaded into a metered server by `--import`: tells its parent the counts whenever it asks.

process.on('message', (counted: Counted) => process.send?.(readMeter(counted)));
process.on('disconnect', () => process.exit());

import { type LoadOrder, runLoad } from './load.ts';

// The generator's own process: an order comes, a report goes back.

process.on('message', (order: LoadOrder) => {
  runLoad(order).then(
    (report) => process.send?.({ report }),
    (error: Error) => process.send?.({ failure: error.message }),
  );
});
process.on('disconnect', () => process.exit());

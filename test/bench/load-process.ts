import { type LoadOrder, runLoad } from './load.ts';

// The process of the load generator: receives an order, replies with a report.

process.on('message', (order: LoadOrder) => {
  runLoad(order).then(
    (report) => process.send?.({ report }),
    (error: Error) => process.send?.({ failure: error.message }),
  );
});
process.on('disconnect', () => process.exit());

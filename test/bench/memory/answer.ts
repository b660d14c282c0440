/** Answers every message of the parent by `job`, and goes with the parent. */
export function answer<Order>(job: (order: Order) => Promise<object>): void {
  process.on('message', (order: Order) => {
    job(order).then(
      (answer) => process.send?.({ answer }),
      (error: Error) => process.send?.({ failure: error.stack }),
    );
  });
  process.on('disconnect', () => process.exit());
}

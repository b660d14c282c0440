/** Replies to each message of the parent with the result of `job`, and exits with the parent. */
export function answer<Order>(job: (order: Order) => Promise<object>): void {
  process.on('message', (order: Order) => {
    job(order).then(
      (answer) => process.send?.({ answer }),
      (error: Error) => process.send?.({ failure: error.stack }),
    );
  });
  process.on('disconnect', () => process.exit());
}

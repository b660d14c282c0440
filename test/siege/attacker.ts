import { type Addresses, attack, type Target } from './attacks.ts';

/** A separate process, so that it slows the measured processes only by loading the machine. */
process.on('message', (order: { name: string; target: Target; addresses: Addresses; ms: number }) => {
  attack(order.name, order.target, order.addresses, order.ms).then(
    () => process.send?.('done'),
    (error: unknown) => process.send?.(String(error)),
  );
});

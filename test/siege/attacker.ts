import { type Addresses, attack, type Target } from './attacks.ts';

/** A process of its own, so that what it does costs those who are measured no time but the machine's. */
process.on('message', (order: { name: string; target: Target; addresses: Addresses; ms: number }) => {
  attack(order.name, order.target, order.addresses, order.ms).then(
    () => process.send?.('done'),
    (error: unknown) => process.send?.(String(error)),
  );
});

import { Counter, Gauge, type Registry } from 'prom-client';

export type { Registry } from 'prom-client';

type Series = readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];

/** Makes the counters and gauges of one registry. Values that are not counted as they change are read at each scrape. */
export function instrumentsOf(registry: Registry) {
  const registers = [registry];
  return {
    counter: <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
      new Gauge({ name, help, labelNames, registers }),
    /** A gauge without labels. */
    reading(name: string, help: string, read: () => number | Promise<number>): void {
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          this.set(await read());
        },
      });
    },
    /** A gauge with the series that exist at the time. */
    readings(name: string, help: string, labelNames: string[], read: () => Series | Promise<Series>): void {
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        async collect() {
          const series = await read();
          this.reset();
          for (const [labels, value] of series) this.set(labels, value);
        },
      });
    },
  };
}

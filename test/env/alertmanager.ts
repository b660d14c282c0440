import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { freePort } from './ports.ts';
import { findAlertmanager } from './prometheus-binaries.ts';
import { openRoom } from './room.ts';
import { ServerProcess } from './server-process.ts';

const SHIPPED = join(import.meta.dirname, '../../deploy/prometheus/alertmanager.yml');

/** What a receiver got: one page, however often Alertmanager repeats or extends it, is one `groupKey`. */
export interface Notification {
  readonly receiver: string;
  readonly groupKey: string;
  readonly alerts: readonly { status: 'firing' | 'resolved'; labels: Record<string, string> }[];
  /** Of `performance.now()`. */
  readonly at: number;
}

/** A real Alertmanager on loopback with the shipped configuration, whose receivers all lead to a webhook. */
export interface Alertmanager extends AsyncDisposable {
  readonly address: string;
  readonly notifications: readonly Notification[];
  /** The names of all pages that fire and that no other alert mutes. */
  pages(): Promise<string[]>;
}

export async function startAlertmanager(): Promise<Alertmanager> {
  await using stack = new AsyncDisposableStack();
  const room = stack.use(await openRoom('ori-alertmanager'));
  const notifications: Notification[] = [];
  const webhook = createServer(async (request, response) => {
    const notification = (await json(request)) as Omit<Notification, 'at'>;
    notifications.push({ ...notification, at: performance.now() });
    response.end();
  }).listen(0, '127.0.0.1');
  stack.defer(() => void webhook.close());
  await once(webhook, 'listening');
  const url = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/`;
  const config = join(room.directory, 'alertmanager.yml');
  const shipped = await readFile(SHIPPED, 'utf8');
  await writeFile(
    config,
    shipped.replace(/^ {2}- name: \w+$/gm, `$&\n    webhook_configs: [{ url: "${url}" }]`),
  );
  const address = `127.0.0.1:${await freePort()}`;
  const server = new ServerProcess({
    room,
    program: findAlertmanager() ?? '',
    arguments: [
      `--config.file=${config}`,
      `--storage.path=${join(room.directory, 'data')}`,
      `--web.listen-address=${address}`,
      '--cluster.listen-address=',
    ],
    ready: /Listening on/,
    farewell: 'KILL',
  });
  await server.start();
  const owned = stack.move();
  return {
    address,
    notifications,
    async pages() {
      const filter = encodeURIComponent('severity="page"');
      const answer = await fetch(`http://${address}/api/v2/alerts?inhibited=false&filter=${filter}`);
      const alerts = (await answer.json()) as { labels: Record<string, string> }[];
      return [...new Set(alerts.map(({ labels }) => labels['alertname'] ?? ''))].sort();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

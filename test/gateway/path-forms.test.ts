import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, NGINX, startDaemonGateway, startGateway } from '../env/gateway.ts';
import { startWorld, type World } from '../env/world.ts';
import { openHttp2 } from './ask-http2.ts';
import { askRaw, requestBytes } from './ask-raw.ts';
import { type JudgingDaemon, startJudgingDaemon } from './judging-daemon.ts';
import { ABSOLUTE_FORMS, isSignable, PATH_FORMS } from './path-forms.ts';
import { type Relay, startRelay } from './relay.ts';
import { expectStream } from './stream.ts';

const BODY = '{"prompt":"hello"}';
const shown = (target: string) =>
  target.length > 60 ? `${target.slice(0, 20)}… (${target.length} characters)` : target;

const FORMS = PATH_FORMS.map((form) => ({ ...form, name: shown(form.target) }));

/** The request lines that a relay forwarded. */
const linesOf = (relay: Relay) => relay.take().map((bytes) => bytes.split('\r\n')[0]);

describe.skipIf(NGINX === undefined)('the gateway of a daemon', () => {
  let daemon: JudgingDaemon;
  let relay: Relay;
  let gateway: Gateway;
  beforeAll(async () => {
    daemon = await startJudgingDaemon();
    relay = await startRelay(daemon.address);
    gateway = await startDaemonGateway({ daemons: [relay.address] });
  });
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await relay?.[Symbol.asyncDispose]();
    await daemon?.[Symbol.asyncDispose]();
  });

  /** With a proof over `path`, if a proof can cover it. */
  async function call(target: string, path = target) {
    const proof = daemon.signer.sign({ path: isSignable(path) ? path : '/', body: BODY });
    const headers = [...Object.entries(proof), ['Content-Type', 'application/json'] as const];
    const { status } = await askRaw(gateway.port, requestBytes(`POST ${target} HTTP/1.1`, headers, BODY));
    return {
      status,
      lines: linesOf(relay),
      accepted: daemon.takeArrivals().some(({ verdict }) => verdict === 'accepted'),
    };
  }

  it.each(FORMS)('forwards a path byte for byte or refuses it: $name $fate', async ({ target, fate }) => {
    const { status, lines, accepted } = await call(target);
    if (fate === 'passes') {
      expect(lines).toEqual([`POST ${target} HTTP/1.1`]);
      expect({ status, accepted }).toEqual(
        isSignable(target)
          ? { status: 200, accepted: true }
          : { status: expect.toBeOneOf([400, 401]), accepted: false },
      );
    } else {
      expect({ status, lines }).toEqual({ status: target.length > 16_384 ? 414 : 400, lines: [] });
    }
  });

  it('passes on a stream as it comes, and the end of its client', async () => {
    await expectStream(daemon, gateway.port);
    relay.take();
  });

  it('forwards paths byte for byte over HTTP/2 too', async () => {
    await using http = openHttp2(gateway);
    for (const { target } of PATH_FORMS.filter(
      ({ target, fate }) => fate === 'passes' && isSignable(target),
    )) {
      const proof = daemon.signer.sign({ path: target, body: BODY });
      const head = { ':method': 'POST', ':path': target, 'content-type': 'application/json', ...proof };
      const { status } = await http.ask(head, BODY);
      expect({ status, lines: linesOf(relay) }, target).toEqual({
        status: 200,
        lines: [`POST ${target} HTTP/1.1`],
      });
    }
  });

  it.each(ABSOLUTE_FORMS)('forwards the absolute form %s as its path, %s', async (target, path) => {
    const { status, lines } = await call(target, path);
    expect(lines).toEqual([`POST ${path} HTTP/1.1`]);
    expect(status).toBe(isSignable(path) ? 200 : 401);
  });
});

describe.skipIf(NGINX === undefined)('the gateway of the signer', () => {
  let world: World;
  let relay: Relay;
  let gateway: Gateway;
  beforeAll(async () => {
    world = await startWorld({ environment: { TRUST_GATEWAY: 'true' } });
    relay = await startRelay(new URL(world.baseUrl).host);
    gateway = await startGateway({ signers: [relay.address], management: ['127.0.0.1:9'] });
  });
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await relay?.[Symbol.asyncDispose]();
    await world?.[Symbol.asyncDispose]();
  });

  it.each(FORMS)('forwards a path byte for byte or refuses it: $name $fate', async ({ target, fate }) => {
    const sent = `/v1/interns/int_x/daemon${target}`;
    const { status } = await askRaw(gateway.port, requestBytes(`POST ${sent} HTTP/1.1`, []));
    const lines = linesOf(relay);
    if (fate !== 'refused') {
      expect(lines).toEqual([`POST ${sent} HTTP/1.1`]);
      expect(status).toBeOneOf([400, 404]);
    } else {
      // Targets without a leading slash become a path that is routed to management here.
      expect(lines).toEqual([]);
      expect(status).toBe(target.startsWith('/') ? (target.length > 16_384 ? 414 : 400) : 502);
    }
  });

  it.each(ABSOLUTE_FORMS.filter(([, path]) => path !== '/'))(
    'forwards the absolute form %s as its path',
    async (target, path) => {
      const prefix = '/v1/interns/int_x/daemon';
      const sent = target.replace(/^(https?:\/\/[^/]+)/i, `$1${prefix}`);
      await askRaw(gateway.port, requestBytes(`POST ${sent} HTTP/1.1`, []));
      expect(linesOf(relay)).toEqual([`POST ${prefix}${path} HTTP/1.1`]);
    },
  );
});

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { connectKeepAlive, type KeepAliveClient } from "../support/clients/keep-alive-client.ts";
import { dialRaw, encodeChatHead } from "../support/clients/raw-client.ts";
import { eventually } from "../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { closing, healthy, opening, startVendor, type Vendor } from "../support/vendors/vendor.ts";

const CLIENTS = 200;

let vendor: Vendor;
const gateways: TestGateway[] = [];

async function start(drainNoticeMs: number): Promise<TestGateway> {
  const gateway = await startTestGateway({
    drainNoticeMs,
    yaml: `
providers:
  vendor-a:
    base_url: "${vendor.baseUrl}"
    models: [{id: "acme/model", prices: {prompt: "0.000001", completion: "0.000002"}}]`,
  });
  gateways.push(gateway);
  return gateway;
}

beforeAll(() => {
  vendor = startVendor(healthy("Alpha"));
});
afterAll(() => vendor.stop());
afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gateway) => gateway.stop()));
  vendor.perform(healthy("Alpha"));
});

function chat(gateway: TestGateway, stream: boolean): string {
  const body = JSON.stringify({
    model: "acme/model",
    stream,
    messages: [{ role: "user", content: "Hi" }],
  });
  return encodeChatHead(gateway, `content-length: ${body.length}`) + body;
}

/** A client that keeps its connection, and takes the other gateway after a response with `Connection: close`. */
class Client {
  /** The index of the gateway that it calls. */
  at = 0;
  answered = 0;
  readonly broken: string[] = [];
  private connection: KeepAliveClient | null = null;

  constructor(
    private readonly both: readonly TestGateway[],
    private readonly index: number,
  ) {}

  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) await this.askOnce().catch((error) => this.lose(String(error)));
    this.connection?.close();
  }

  private async askOnce(): Promise<void> {
    const gateway = this.both[this.at] as TestGateway;
    this.connection ??= await connectKeepAlive(gateway.url);
    const { status, closes } = await this.connection.ask(
      chat(gateway, (this.index + this.answered) % 2 === 0),
    );
    if (status !== 200) this.broken.push(`status ${status}`);
    this.answered += 1;
    if (!closes) return;
    this.connection = null;
    this.at = 1;
  }

  private lose(reason: string): void {
    this.broken.push(reason);
    this.connection = null;
  }
}

describe("while a gateway stops", () => {
  test("200 clients under load on kept connections see no broken connection, with streams and without", async () => {
    const both = [await start(10_000), await start(0)];
    let isOver = false;
    const clients = Array.from({ length: CLIENTS }, (_, index) => new Client(both, index));
    const running = clients.map((client) => client.run(() => isOver));
    await eventually("two answers for each client", () => clients.every(({ answered }) => answered >= 2));
    await gateways.shift()?.stop();
    expect(clients.filter(({ at }) => at === 0)).toEqual([]);
    const before = clients.map(({ answered }) => answered);
    await eventually("answers of the other gateway", () =>
      clients.every(({ answered }, index) => answered > (before[index] as number)),
    );
    isOver = true;
    await Promise.all(running);
    expect(clients.flatMap(({ broken }) => broken)).toEqual([]);
  });

  test("/readyz is 503 at once, and every response has Connection: close, until its clients have gone", async () => {
    const gateway = await start(10_000);
    const kept = await connectKeepAlive(gateway.url);
    const get = `GET /readyz HTTP/1.1\r\nhost: ${new URL(gateway.url).host}\r\n\r\n`;
    expect(await kept.ask(get)).toEqual({ status: 200, closes: false });
    const stopped = gateways.shift()?.stop();
    expect(await kept.ask(get)).toEqual({ status: 503, closes: true });
    const next = await connectKeepAlive(gateway.url);
    expect(await next.ask(chat(gateway, true))).toEqual({ status: 200, closes: true });
    await stopped;
    expect(connectKeepAlive(gateway.url)).rejects.toThrow();
  });

  test("the connection of a stream that was open before takes one more request", async () => {
    const gateway = await start(10_000);
    vendor.perform(async (call) => {
      await call.begin();
      await call.events(...opening("Alpha"));
      await call.gate();
      await call.events(...closing());
      await call.end();
    });
    const client = await dialRaw(gateway);
    client.send(chat(gateway, true));
    await client.waitForText("Alpha");
    const stopped = gateways.shift()?.stop();
    vendor.calls[0]?.openGate();
    await client.waitForText("[DONE]");
    expect(client.received).not.toContain("Connection: close");
    client.send(`GET /healthz HTTP/1.1\r\nhost: ${new URL(gateway.url).host}\r\n\r\n`);
    await client.closed;
    expect(client.received).toContain("Connection: close");
    expect(client.received).toEndWith('{"status":"ok"}');
    await stopped;
  });
});

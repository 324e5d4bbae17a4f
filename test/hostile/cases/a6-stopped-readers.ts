import { times } from "../../growth/dimension.ts";
import { postRawChat, type RawClient } from "../../support/clients/raw-client.ts";
import { eventually } from "../../support/eventually.ts";
import { closing, opening, textOf, type VendorCall } from "../../support/vendors/vendor.ts";
import { ensure, type HostileCase } from "../hostile-case.ts";
import { addAccountWithKey, DOLLAR, expectSound, fetchEnded, type Payer } from "../payer.ts";
import type { TestBed } from "../test-bed.ts";

/* Clients that ask for long streams and stop reading them. */

const READERS = 300;
const KIB = 1024;
/** Four megabytes per stream, 1.2 gigabytes in total. */
const PIECE = "x".repeat(64 * KIB);
const PIECES = 64;

async function talk(call: VendorCall): Promise<void> {
  let isCut = false;
  void call.connection.closed.then(() => {
    isCut = true;
  });
  await call.begin();
  await call.events(...opening("Alpha"));
  for (let piece = 0; piece < PIECES && !isCut; piece++) await call.events(textOf(PIECE));
  await call.events(...closing());
  await call.end();
}

async function stopReading(bed: TestBed, { key }: Payer): Promise<RawClient[]> {
  bed.scripted.perform(talk);
  const gateway = { url: bed.gateway.url, key };
  const messages = [{ role: "user", content: "Hello!" }];
  const body = { model: bed.paidModelOf("openai-chat"), stream: true, max_tokens: 1_000, messages };
  return Promise.all(
    times(READERS, async () => {
      const client = await postRawChat(gateway, body);
      await client.waitForText("x-gateway-generation-id: gen_");
      client.pause();
      return client;
    }),
  );
}

/** Each is charged for what was produced, like a client that disconnected. */
async function expectCharged(bed: TestBed, payer: Payer, clients: readonly RawClient[]): Promise<void> {
  const spent = 1_000 * DOLLAR - (await payer.rest());
  let told = 0;
  for (const { received } of clients) {
    const id = /x-gateway-generation-id: (\S+)/.exec(received)?.[1] ?? "";
    const record = await fetchEnded(bed, payer, id);
    ensure(
      record["outcome"] === "cancelled" &&
        record["error_type"] === "client_timeout" &&
        Number(record["total_cost_nanodollars"]) > 0,
      JSON.stringify(record),
    );
    told += Number(record["total_cost_nanodollars"]);
  }
  ensure(spent === told, `${spent} nanodollars are spent, and the generations cost ${told}`);
  await expectSound(bed);
}

async function burst(bed: TestBed): Promise<void> {
  const payer = await addAccountWithKey(bed, 1_000 * DOLLAR);
  const clients = await stopReading(bed, payer);
  await eventually("nothing is held any more", async () => (await payer.held()) === 0, PATIENCE_MS);
  await expectCharged(bed, payer, clients);
  for (const client of clients) client.disconnect();
}

const PATIENCE_MS = 30_000;

/** Three hundred streams at full speed are the load of three hundred clients: one turn of the event loop serves all of them. */
const STALL_MS = 500;
/** Three megabytes per reader: what waits for it, and what passing on its answer leaves until the next garbage collection. */
const MAX_MB = 3 * READERS;
/** What the second burst may leave behind that the first did not: ten kilobytes per reader. */
const LEFT_MB = READERS / 100;

const SETTINGS = [
  {
    what: "are disconnected after the configured time",
    config: "timers: {client_silence_ms: 2000}",
  },
  {
    what: "are disconnected at a bound of 32 MB of unread answers",
    config: "limits: {total_unread_bytes: 33554432}\ntimers: {client_silence_ms: 4000}",
  },
] as const;

export default SETTINGS.map(
  ({ what, config }): HostileCase => ({
    name: `A6 ${READERS} clients that stop reading ${what}, are charged for what was produced, and their memory is freed`,
    maxMemoryMb: MAX_MB,
    maxStallMs: STALL_MS,
    config,
    async run(bed) {
      await burst(bed);
      const before = await bed.readLiveMb();
      await burst(bed);
      const left = (await bed.readLiveMb()) - before;
      ensure(left <= LEFT_MB, `${Math.round(left)} MB stayed in use`);
      return "closed";
    },
  }),
) satisfies readonly HostileCase[];

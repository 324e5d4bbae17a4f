import { createIdSource } from "../../../src/base/secrets/ids.ts";
import { createSystemRandom } from "../../../src/base/secrets/random.ts";
import type { Clock } from "../../../src/base/time/clock.ts";
import type { Transport, UpstreamResponse } from "../../../src/core/deployments/transport.ts";
import { describeRecord, writeRequestLine } from "../../../src/core/extensions/request-log.ts";
import { readBody } from "../../../src/core/generation/attempt/read-body.ts";
import type { UsageRecord } from "../../../src/core/usage/records/records.ts";
import { createHttp1Transport } from "../../../src/providers/http1/transport.ts";
import { type BufferedLog, createLog } from "../../../src/telemetry/log.ts";
import { openRecord, settleRecord } from "./floor-record.ts";
import { type FloorLevel, includes } from "./levels.ts";
import { keepInJournal, keepInStore, type RecordKeeping } from "./record-keeping.ts";
import { createEventRewriter, endsStream, rewriteJson, UNCHANGED } from "./rewrite-json.ts";

const CONNECT_MS = 5_000;
const MAX_ANSWER_BYTES = 100_000_000;
const IDLE_S = 120;
const ROUTE = "/chat/completions";
const HEADERS = {
  "content-type": "application/json",
  accept: "application/json",
  authorization: "Bearer bench",
} as const;

/** What a floor is made of. */
interface FloorOptions {
  readonly level: FloorLevel;
  /** 0 for any free port. */
  readonly port: number;
  /** The upstream's URL up to its version, such as `http://127.0.0.1:9000/v1`. */
  readonly upstream: string;
  /** Where journal and database are. Not used by the levels without. */
  readonly dataDir: string;
  readonly clock: Clock;
  /** Takes the lines of the log. */
  readonly writeLines?: (lines: string) => void;
  /** Called if a record cannot be kept. */
  readonly onError: (error: unknown) => void;
}

/** A floor that listens. */
export interface FloorServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts a gateway that does the work of a level and nothing else: no keys, no limits, no routing, no checks. */
export function serveFloor(options: FloorOptions): FloorServer {
  const { level, port, clock, upstream } = options;
  const keeping = createKeeping(options);
  const transport = createHttp1Transport({ clock });
  const floor = new Floor({
    transport,
    url: new URL(`${upstream}${ROUTE}`),
    readsJson: includes(level, "json"),
    books: keeping === null ? null : new Books(keeping, clock, createLog("info", clock, options.writeLines)),
  });
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    idleTimeout: IDLE_S,
    development: false,
    routes: {
      "/readyz": new Response("ready"),
      "/v1/chat/completions": { POST: (request) => floor.answer(request) },
    },
  });
  const stop = async () => {
    await server.stop(true);
    transport.close();
    keeping?.close();
  };
  return { port: server.port ?? port, stop };
}

function createKeeping({ level, dataDir, clock, onError }: FloorOptions): RecordKeeping | null {
  if (includes(level, "records")) return keepInStore(dataDir, clock, onError);
  return includes(level, "journal") ? keepInJournal(dataDir, clock) : null;
}

interface FloorParts {
  readonly transport: Transport;
  readonly url: URL;
  readonly readsJson: boolean;
  /** Null for levels without records. */
  readonly books: Books | null;
}

/** Answers requests by asking the upstream. */
class Floor {
  constructor(private readonly parts: FloorParts) {}

  async answer(request: Request): Promise<Response> {
    const { books, readsJson } = this.parts;
    const received = new Uint8Array(await request.arrayBuffer());
    const body = readsJson ? rewriteJson(received) : received;
    const open = books === null ? null : await books.begin();
    const response = await this.send(body);
    const type = response.header("content-type") ?? "application/octet-stream";
    const { status } = response;
    const content = type.startsWith("text/event-stream")
      ? await this.relay(response, open)
      : await this.readWhole(response, open);
    return new Response(content, { status, headers: { "content-type": type } });
  }

  private send(body: Uint8Array): Promise<UpstreamResponse> {
    const { transport, url } = this.parts;
    return transport.open({ url, method: "POST", headers: HEADERS, body, connectTimeoutMs: CONNECT_MS })
      .response;
  }

  private async readWhole(response: UpstreamResponse, open: UsageRecord | null): Promise<Uint8Array> {
    const { books, readsJson } = this.parts;
    const received = await readBody(response, MAX_ANSWER_BYTES, "reject");
    const body = readsJson ? rewriteJson(received) : received;
    if (books !== null && open !== null) await books.settle(open, response.status);
    return body;
  }

  /** Relays a stream as it comes. Its end waits until the record is durable. One that is complete already is sent in one piece. */
  private async relay(
    response: UpstreamResponse,
    open: UsageRecord | null,
  ): Promise<Uint8Array | ReadableStream<Uint8Array>> {
    const { books, readsJson } = this.parts;
    const { step } = readsJson ? createEventRewriter() : UNCHANGED;
    const settle = async () => {
      if (books !== null && open !== null) await books.settle(open, response.status);
    };
    const first = (await response.read()) ?? new Uint8Array();
    if (endsStream(first)) {
      const whole = step(first);
      await settle();
      return sendAtOnce(whole);
    }
    return new ReadableStream({
      type: "direct",
      async pull(sink) {
        let piece: Uint8Array | null = first;
        for (; piece !== null && !endsStream(piece); piece = await response.read()) {
          await sink.write(step(piece));
          sink.flush();
        }
        await settle();
        if (piece !== null) sink.write(step(piece));
        sink.close();
      },
    });
  }
}

/** Up to this size the runtime sends head and body of an answer in one packet, as `src/http/context/body-of.ts` says. Bytes. */
const AS_ONE_BYTES = 14_000;

function sendAtOnce(bytes: Uint8Array): Uint8Array | ReadableStream<Uint8Array> {
  if (bytes.length <= AS_ONE_BYTES) return bytes;
  return new ReadableStream({
    type: "direct",
    pull(sink) {
      sink.write(bytes);
      sink.close();
    },
  });
}

/** Writes the records and the log lines of requests. */
class Books {
  private readonly ids;
  private number = 0;

  constructor(
    private readonly keeping: RecordKeeping,
    private readonly clock: Clock,
    private readonly log: BufferedLog,
  ) {
    this.ids = createIdSource(clock, createSystemRandom());
  }

  /** Resolves to the record of a request that begins, once it is durable. */
  async begin(): Promise<UsageRecord> {
    const record = openRecord(this.ids.next("gen"), this.clock.now());
    await this.keeping.write(record);
    return record;
  }

  /** Resolves once the record of a request that has ended is durable, and writes its log line. */
  async settle(open: UsageRecord, status: number): Promise<void> {
    const record = settleRecord(open, this.number++, this.clock.now());
    await this.keeping.write(record);
    const { requestId, createdAt } = record;
    const call = { requestId, route: ROUTE, receivedAt: createdAt };
    const fields = describeRecord(call, { ...record, status }, this.clock.now());
    writeRequestLine(this.log, status, fields);
  }
}

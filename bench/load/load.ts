/**
 * The load generator: prepared requests over keep-alive sockets, with every answer checked.
 * A separate process, so that its work never counts as a target's. The bench controls it over IPC.
 */
import { makeBody } from "./bodies.ts";
import { LoadRun } from "./load-run.ts";
import type { Door, LoadOrder, LoadReply } from "./messages.ts";

function makeRequest(door: Door, body: Buffer): Buffer {
  const headers = Object.entries(door.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head =
    `POST ${door.path} HTTP/1.1\r\nhost: 127.0.0.1:${door.port}\r\nuser-agent: bench\r\naccept: */*\r\n` +
    `content-type: application/json\r\n${headers.join("")}content-length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

async function obey(order: LoadOrder): Promise<LoadReply> {
  try {
    const body = makeBody(order.body, order.door.api, order.door.model, order.stream);
    const run = new LoadRun(order, makeRequest(order.door, body));
    return { kind: "done", result: { ...(await run.finish()), requestBytes: body.length } };
  } catch (error) {
    return { kind: "failed", message: String(error) };
  }
}

process.on("message", async (order: LoadOrder) => process.send?.(await obey(order)));
// The bench has ended, for whatever reason.
process.on("disconnect", () => process.exit(0));
process.send?.({ kind: "ready" } satisfies LoadReply);

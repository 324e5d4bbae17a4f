import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { findFreePort } from "../support/servers/free-port.ts";
import { makeTempFolder } from "../support/temp-folder.ts";

const compiler = process.platform === "linux" ? Bun.which("cc") : null;
if (compiler === null) console.log("The byte relay is not tested: it needs Linux and a C compiler (cc)");

/** More than all buffers in between hold, so that the relay must wait for a slow reader. */
const BYTES = 32 * 1_048_576;

function listen(handle: (socket: Socket) => void): Promise<Server> {
  const { promise, resolve } = Promise.withResolvers<Server>();
  const server = createServer(handle);
  server.listen(0, "127.0.0.1", () => resolve(server));
  return promise;
}

describe.if(compiler !== null)("The byte relay of the benchmarks", () => {
  const folder = makeTempFolder("byte-relay-");
  const program = join(folder, "byte-relay");
  const cleanups: (() => void)[] = [];

  beforeAll(() => {
    const source = join(import.meta.dir, "..", "..", "bench", "targets", "products", "byte-relay.c");
    const command = [compiler ?? "", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, source];
    const { stderr, exitCode } = Bun.spawnSync(command);
    expect({ exitCode, errors: stderr.toString() }).toEqual({ exitCode: 0, errors: "" });
  });
  afterAll(() => {
    for (const cleanup of cleanups) cleanup();
    rmSync(folder, { recursive: true });
  });

  /** Starts the relay in front of an upstream and returns a connection to it. */
  async function connectThrough(upstream: (socket: Socket) => void): Promise<Socket> {
    const server = await listen(upstream);
    const port = await findFreePort();
    const relay = Bun.spawn([program, String(port), String((server.address() as AddressInfo).port)]);
    cleanups.push(
      () => relay.kill(),
      () => server.close(),
    );
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<Socket | null>();
      const socket = connect(port, "127.0.0.1", () => resolve(socket)).on("error", () => resolve(null));
      const connected = await promise;
      if (connected !== null) return connected;
      expect(relay.exitCode).toBeNull();
    }
  }

  test("passes every byte in order to an upstream that reads late, and back", async () => {
    const sent = Buffer.alloc(BYTES);
    for (let i = 0; i < BYTES; i += 4) sent.writeUInt32LE(i, i);
    const handedOver = Promise.withResolvers<void>();
    const client = await connectThrough((socket) => {
      const pieces: Buffer[] = [];
      let length = 0;
      socket.pause();
      socket.on("data", (piece: Buffer) => {
        pieces.push(piece);
        length += piece.length;
        if (length === BYTES) socket.end(Buffer.concat(pieces));
      });
      handedOver.promise.then(() => socket.resume());
    });
    const received: Buffer[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    client.on("data", (piece: Buffer) => received.push(piece)).on("close", () => resolve());
    const fitted = client.write(sent);
    handedOver.resolve();
    await promise;
    expect(fitted).toBe(false);
    expect(Buffer.concat(received).equals(sent)).toBe(true);
  });

  test("closes the connection of a client whose upstream closes", async () => {
    const client = await connectThrough((socket) => socket.end("bye"));
    const { promise, resolve } = Promise.withResolvers<string>();
    let text = "";
    client.on("data", (piece: Buffer) => {
      text += piece;
    });
    client.on("close", () => resolve(text));
    expect(await promise).toBe("bye");
  });

  test("rejects ports that are none", () => {
    const { exitCode, stderr } = Bun.spawnSync([program, "0", "http"]);
    expect(exitCode).toBe(2);
    expect(stderr.toString()).toContain("usage: byte-relay <listen port> <upstream port>");
  });
});

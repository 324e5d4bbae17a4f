import { createServer, type Socket } from "node:net";

/** How a server behaves from now on. */
export type RedisBehaviour =
  | "works"
  /** Accepts connections and answers nothing. */
  | "hangs"
  /** Ends its half of each connection at once. */
  | "half-closes"
  /** Ends connections in the middle of an answer. */
  | "breaks off"
  /** Speaks another protocol. */
  | "speaks HTTP"
  /** Answers with lengths that are none. */
  | "lies about lengths"
  /** Answers with lists in lists without end. */
  | "nests"
  /** Answers once more than it was asked. */
  | "answers twice"
  /** Rejects each command with an error. */
  | { readonly error: string };

/** A server that knows the protocol of Redis and no data, for what a real one does rarely. */
export interface FakeRedis {
  readonly url: string;
  behave(behaviour: RedisBehaviour): void;
  /** Connections that clients have opened so far, and those that are open. */
  readonly opened: number;
  readonly open: number;
  /** Commands that have arrived, by name. */
  readonly commands: readonly string[];
  stop(): void;
}

/** Starts a server on a free port of 127.0.0.1. */
export async function startFakeRedis(): Promise<FakeRedis> {
  let behaviour: RedisBehaviour = "works";
  let opened = 0;
  const sockets = new Set<Socket>();
  const commands: string[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    opened += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.on("end", () => socket.end());
    if (behaviour === "half-closes") socket.end();
    socket.on("data", (bytes) => {
      for (const [, name] of bytes.toString("latin1").matchAll(/\*\d+\r\n\$\d+\r\n([A-Za-z]+)\r\n/g)) {
        commands.push(name as string);
        answer(socket, behaviour, name as string);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `redis://127.0.0.1:${port}`,
    behave(next) {
      behaviour = next;
    },
    get opened() {
      return opened;
    },
    get open() {
      return sockets.size;
    },
    commands,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function answer(socket: Socket, behaviour: RedisBehaviour, name: string): void {
  if (typeof behaviour === "object") {
    socket.write(`-${behaviour.error}\r\n`);
    return;
  }
  switch (behaviour) {
    case "hangs":
      return;
    case "half-closes":
      socket.end();
      return;
    case "breaks off":
      socket.end("$5\r\nab");
      return;
    case "speaks HTTP":
      socket.write("HTTP/1.1 400 Bad Request\r\n\r\n");
      return;
    case "lies about lengths":
      socket.write("$99999999999\r\n");
      return;
    case "nests":
      socket.write("*1\r\n".repeat(10_000));
      return;
    case "answers twice":
      socket.write("+OK\r\n+OK\r\n");
      return;
    case "works":
      socket.write(name === "CLUSTER" ? "-ERR This instance has cluster support disabled\r\n" : "+OK\r\n");
  }
}

import { connect, createServer, type Server, type Socket } from "node:net";

/** A TCP proxy on a free port of 127.0.0.1. It knows no protocol, and can fail as a network does. */
export interface TcpProxy {
  readonly port: number;
  /** Closes all connections and each new one, as after a lost route, until `heal`. */
  cut(): void;
  /** Keeps connections open and forwards nothing, as a network that drops packets, until `heal`. */
  stall(): void;
  /** Forwards each piece after this time, in order, until `heal`. Milliseconds. */
  delay(ms: number): void;
  /** Forwards again. Bytes that were stalled arrive now. */
  heal(): void;
  /** Bytes forwarded so far to the targets, and from them. */
  readonly sent: number;
  readonly received: number;
  /** Closes everything. */
  stop(): void;
}

/** Starts a proxy. `chooseTargets` returns the ports to try for a new connection, in order; the first that accepts it serves it. */
export function startTcpProxy(chooseTargets: () => readonly number[]): Promise<TcpProxy> {
  const proxy = new Listener(chooseTargets);
  return proxy.listen();
}

const MAX_CONNECTIONS = 10_000;
const HOST = "127.0.0.1";

class Listener implements TcpProxy {
  sent = 0;
  received = 0;
  private mode: "forward" | "cut" | "stall" = "forward";
  private delayMs = 0;
  private readonly server: Server;
  private readonly pipes = new Set<Pipe>();

  constructor(private readonly chooseTargets: () => readonly number[]) {
    this.server = createServer({ allowHalfOpen: true }, (client) => this.accept(client));
    this.server.maxConnections = MAX_CONNECTIONS;
  }

  get port(): number {
    const address = this.server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  listen(): Promise<this> {
    return new Promise((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen(0, HOST, () => resolve(this));
    });
  }

  cut(): void {
    this.mode = "cut";
    for (const pipe of this.pipes) pipe.destroy();
  }

  stall(): void {
    this.mode = "stall";
    for (const pipe of this.pipes) pipe.pause();
  }

  delay(ms: number): void {
    this.delayMs = ms;
  }

  heal(): void {
    this.mode = "forward";
    this.delayMs = 0;
    for (const pipe of this.pipes) pipe.resume();
  }

  stop(): void {
    this.server.close();
    for (const pipe of this.pipes) pipe.destroy();
  }

  private accept(client: Socket): void {
    if (this.mode === "cut") {
      client.destroy();
      return;
    }
    const pipe = new Pipe(client, {
      isStalled: () => this.mode === "stall",
      delayMs: () => this.delayMs,
      count: (sent, received) => {
        this.sent += sent;
        this.received += received;
      },
      ended: () => this.pipes.delete(pipe),
    });
    this.pipes.add(pipe);
    pipe.connect([...this.chooseTargets()]);
  }
}

/** What a connection asks and tells its proxy. */
interface PipeOwner {
  isStalled(): boolean;
  delayMs(): number;
  count(sent: number, received: number): void;
  ended(): void;
}

/** One connection of a client and its connection to a target. */
class Pipe {
  private target: Socket | null = null;
  private isDestroyed = false;

  constructor(
    private readonly client: Socket,
    private readonly owner: PipeOwner,
  ) {
    client.pause();
    client.on("error", () => this.destroy());
    client.on("close", () => this.destroy());
  }

  connect(ports: number[]): void {
    const port = ports.shift();
    if (this.isDestroyed) return;
    if (port === undefined) {
      this.destroy();
      return;
    }
    const target = connect({ port, host: HOST, allowHalfOpen: true });
    const retry = () => this.connect(ports);
    target.once("error", retry);
    target.once("connect", () => {
      target.off("error", retry);
      if (this.isDestroyed) target.destroy();
      else this.join(target);
    });
  }

  pause(): void {
    this.client.pause();
    this.target?.pause();
  }

  resume(): void {
    if (this.target === null) return;
    this.client.resume();
    this.target.resume();
  }

  destroy(): void {
    if (this.isDestroyed) return;
    this.isDestroyed = true;
    this.client.destroy();
    this.target?.destroy();
    this.owner.ended();
  }

  private join(target: Socket): void {
    this.target = target;
    target.pause();
    target.setNoDelay(true);
    this.client.setNoDelay(true);
    target.on("error", () => this.destroy());
    target.on("close", () => this.destroy());
    this.forward(this.client, target, (bytes) => this.owner.count(bytes, 0));
    this.forward(target, this.client, (bytes) => this.owner.count(0, bytes));
    if (!this.owner.isStalled()) this.resume();
  }

  private forward(from: Socket, to: Socket, count: (bytes: number) => void): void {
    // Pieces and the end wait for those before them, so that a delay that becomes shorter cannot change their order.
    let waiting = 0;
    let last: Promise<void> = Promise.resolve();
    const inOrder = (work: () => void): void => {
      const ms = this.owner.delayMs();
      if (ms === 0 && waiting === 0) {
        work();
        return;
      }
      waiting += 1;
      last = Promise.all([last, Bun.sleep(ms)]).then(() => {
        waiting -= 1;
        if (!this.isDestroyed) work();
      });
    };
    to.on("drain", () => {
      if (!this.owner.isStalled()) from.resume();
    });
    from.on("data", (piece: Buffer) => {
      count(piece.length);
      inOrder(() => {
        if (!to.write(piece)) from.pause();
      });
    });
    from.on("end", () => inOrder(() => to.end()));
  }
}

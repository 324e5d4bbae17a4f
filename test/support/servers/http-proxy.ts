import { connect, createServer, type Socket } from "node:net";

/** An HTTP proxy on a free port of 127.0.0.1, which knows where the hosts are that it is asked for. */
export interface HttpProxy {
  readonly url: string;
  /** The first lines of the requests that it got: `CONNECT host:443 HTTP/1.1`, `POST http://host/path HTTP/1.1`. */
  readonly asked: readonly string[];
  stop(): void;
}

const HEAD_END = "\r\n\r\n";

/** Starts a proxy. `portOf` returns the port of 127.0.0.1 that stands for a host; null for one that it cannot reach. */
export async function startHttpProxy(portOf: (host: string) => number | null): Promise<HttpProxy> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((client) => {
    track(client);
    let head = Buffer.alloc(0);
    const read = (bytes: Buffer): void => {
      head = Buffer.concat([head, bytes]);
      const end = head.indexOf(HEAD_END);
      if (end < 0) return;
      client.off("data", read);
      const line = head.subarray(0, head.indexOf("\r\n")).toString("latin1");
      asked.push(line);
      const [method = "", address = ""] = line.split(" ");
      const isTunnel = method === "CONNECT";
      const url = new URL(isTunnel ? `https://${address}` : address);
      const port = portOf(url.hostname);
      if (port === null) return void client.end("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n");
      const target = track(connect(port, "127.0.0.1"));
      if (isTunnel) client.write(`HTTP/1.1 200 Connection established${HEAD_END}`);
      else target.write(head.toString("latin1").replace(address, url.pathname + url.search), "latin1");
      client.pipe(target).pipe(client);
    };
    client.on("data", read);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    asked,
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

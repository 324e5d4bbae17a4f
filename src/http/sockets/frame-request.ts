import { urlOf } from "../context/url-of.ts";

/** Headers of an upgrade that belong to its connection, to its missing body, or to that one request. */
const NOT_OF_FRAMES = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "cookie",
  "expect",
  "idempotency-key",
  "keep-alive",
  "origin",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Makes requests of the frames of one connection, with what its upgrade has said: credentials, session, tags and others. */
export class FrameRequests {
  private readonly url: string;
  private readonly headers: [string, string][] = [["content-type", "application/json"]];

  constructor(upgrade: Request) {
    this.url = urlOf(upgrade).href;
    for (const [name, value] of upgrade.headers)
      if (!NOT_OF_FRAMES.has(name) && !name.startsWith("sec-websocket-")) this.headers.push([name, value]);
  }

  /** Returns the request of a frame. `signal` tells that its client has left. */
  make(frame: Buffer, signal: AbortSignal): Request {
    const headers: [string, string][] = [...this.headers, ["content-length", String(frame.length)]];
    return new Request(this.url, { method: "POST", headers, body: frame, signal });
  }
}

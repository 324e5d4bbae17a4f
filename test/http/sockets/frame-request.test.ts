import { expect, test } from "bun:test";
import { FrameRequests } from "../../../src/http/sockets/frame-request.ts";

test("the request of a frame has what its upgrade says, except for what belongs to the connection", async () => {
  const upgrade = new Request("http://gateway.example.com/v1/responses?beta=true", {
    headers: {
      authorization: "Bearer gw_1",
      host: "gateway.example.com",
      "user-agent": "codex_cli_rs/0.169.0",
      "x-session-id": "thread-1",
      "openai-beta": "responses_websockets=2026-02-06",
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-key": "x",
      "sec-websocket-version": "13",
      cookie: "session=1",
      origin: "https://app.example.com",
      "idempotency-key": "once",
      "content-length": "0",
      "content-encoding": "gzip",
    },
  });
  const { signal } = new AbortController();
  const request = new FrameRequests(upgrade).make(Buffer.from('{"ü":1}'), signal);
  expect([request.method, new URL(request.url).pathname, new URL(request.url).search]).toEqual([
    "POST",
    "/v1/responses",
    "?beta=true",
  ]);
  expect(Object.fromEntries(request.headers)).toEqual({
    authorization: "Bearer gw_1",
    host: "gateway.example.com",
    "user-agent": "codex_cli_rs/0.169.0",
    "x-session-id": "thread-1",
    "openai-beta": "responses_websockets=2026-02-06",
    "content-type": "application/json",
    "content-length": "8",
  });
  expect(await request.text()).toBe('{"ü":1}');
});

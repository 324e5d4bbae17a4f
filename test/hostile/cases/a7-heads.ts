import { dialRaw, encodeChatHead, postRawChat } from "../../support/clients/raw-client.ts";
import { ensure, type HostileCase } from "../hostile-case.ts";
import { addAccountWithKey, DOLLAR } from "../payer.ts";

/* Requests that stand strangely on their connection. */

const twoHosts: HostileCase = {
  name: "A7 two Host headers: 400, and no upstream is called",
  async run(bed) {
    const text = JSON.stringify({ model: bed.paidModelOf("openai-chat"), messages: [] });
    for (const host of ["other.example", new URL(bed.gateway.url).host]) {
      const client = await dialRaw(bed.gateway);
      client.send(encodeChatHead(bed.gateway, `host: ${host}`, `content-length: ${text.length}`) + text);
      await client.closed;
      ensure(client.received.startsWith("HTTP/1.1 400 "), client.received.slice(0, 300));
    }
    ensure(bed.scripted.calls.length === 0, "an upstream was asked");
    return "400";
  },
};

const pipelined = [false, true].map(
  (stream): HostileCase => ({
    name: `A7 two ${stream ? "streams" : "answers"} requested at once on one connection: it is closed, and neither is charged`,
    async run(bed) {
      const payer = await addAccountWithKey(bed, DOLLAR);
      const gateway = { url: bed.gateway.url, key: payer.key };
      const body = {
        model: bed.paidModelOf("openai-chat"),
        stream,
        messages: [{ role: "user", content: "Hello!" }],
      };
      const text = JSON.stringify(body);
      const request = encodeChatHead(gateway, `content-length: ${text.length}`) + text;
      const client = await dialRaw(gateway);
      client.send(request + request);
      await client.closed;
      const balance = await payer.rest();
      const isAnswered = client.received.includes("Alpha");
      ensure(balance === DOLLAR || isAnswered, `${DOLLAR - balance} nanodollars without an answer`);
      const next = await postRawChat(gateway, body);
      await next.waitForText("Alpha");
      next.disconnect();
      return isAnswered ? "answered" : "closed";
    },
  }),
);

export default [twoHosts, ...pipelined];

/** A simulated provider for the commands of pages: `bun vendor.ts <name>` writes its URL to `<name>.url` and its process id to `<name>.pid`. */
import { renameSync, writeFileSync } from "node:fs";

const name = process.argv[2] ?? "vendor";

const ANSWER = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "chat",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello!" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
};

const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => Response.json(ANSWER) });
writeFileSync(`${name}.pid`, String(process.pid));
// The file appears with its content.
writeFileSync(`${name}.draft`, `${server.url.origin}/v1\n`);
renameSync(`${name}.draft`, `${name}.url`);

import { expect, test } from "bun:test";
import { printCurl } from "../../../src/console/screens/request/print-curl.ts";

test("the curl command sends a request of the same client API, model and streaming, with the key from a variable", () => {
  const command = printCurl(
    { api: "messages", requested_model: "anthropic/claude-haiku-4.5", streamed: true },
    "http://127.0.0.1:8080",
  );
  expect(command).toBe(`curl http://127.0.0.1:8080/api/gateway/messages \\
  -H "Authorization: Bearer $GATEWAY_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"anthropic/claude-haiku-4.5","max_tokens":1024,"messages":[{"role":"user","content":"Hello!"}],"stream":true}'`);
});

test("a quote in a model's name cannot end the argument of the curl command", () => {
  const command = printCurl(
    { api: "responses", requested_model: "a'; rm -rf ~ '", streamed: false },
    "http://x",
  );
  expect(Bun.spawnSync(["sh", "-c", command.replace(/^curl/, "printf '%s\\n'")]).stdout.toString()).toContain(
    `{"model":"a'; rm -rf ~ '","input":"Hello!"}`,
  );
});

test("the curl command of a transcription sends a form", () => {
  const command = printCurl(
    { api: "transcriptions", requested_model: "openai/whisper-1", streamed: false },
    "http://127.0.0.1:8080",
  );
  expect(command).toBe(`curl http://127.0.0.1:8080/api/gateway/audio/transcriptions \\
  -H "Authorization: Bearer $GATEWAY_API_KEY" \\
  -F 'model=openai/whisper-1' \\
  -F 'file=@speech.mp3'`);
});

test("the curl command of speech, which is always streamed, does not ask for a stream", () => {
  const command = printCurl(
    { api: "speech", requested_model: "openai/tts-1", streamed: true },
    "http://127.0.0.1:8080",
  );
  expect(command).toContain(`-d '{"model":"openai/tts-1","input":"Hello!","voice":"alloy"}'`);
});

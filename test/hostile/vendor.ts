import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { FORMAT_NAMES } from "../../src/wire/conversation/traits/format-name.ts";
import { SCRIPTS } from "../support/vendors/scripts/all-scripts.ts";

/** How a vendor answers a request; `null`: as a healthy vendor. */
export type AnswerScript = (request: Request) => Response | Promise<Response> | null;

/** A vendor that speaks every format, each under its own path. */
export interface HostileVendor {
  baseUrl(format: FormatName): string;
  /** Answers with this from now on. */
  answer(script: AnswerScript): void;
  /** Bytes of the last request's body. */
  lastBodyBytes(): number;
  stop(): void;
}

const WELL: AnswerScript = () => null;

export function startHostileVendor(): HostileVendor {
  let script = WELL;
  let lastBodyBytes = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 120,
    maxRequestBodySize: 1024 * 1024 * 1024,
    async fetch(request) {
      lastBodyBytes = (await request.arrayBuffer()).byteLength;
      return (await script(request)) ?? answerWell(request);
    },
  });
  return {
    baseUrl: (format) => `http://127.0.0.1:${server.port}/${format}/v1`,
    answer(next) {
      script = next;
    },
    lastBodyBytes: () => lastBodyBytes,
    stop: () => void server.stop(true),
  };
}

function answerWell(request: Request): Response {
  const path = new URL(request.url).pathname;
  const format = FORMAT_NAMES.find((name) => path.startsWith(`/${name}/`)) ?? "openai-chat";
  return Response.json(SCRIPTS[format].document("Hello there.", "stop"));
}

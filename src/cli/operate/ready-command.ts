import type { Command } from "commander";
import { loadConfig } from "../../app/config/load-config.ts";
import { fetchGateway } from "../../app/several/fetch-gateway.ts";
import { localUrl, readUrl } from "../callers/gateway-url.ts";
import { addExamples } from "../endpoint/read-options.ts";
import { print } from "../render/print.ts";

/** The longest wait for the answer. Milliseconds. */
const TIMEOUT_MS = 5_000;
/** The maximum number of characters of an answer that are shown. */
const MAX_SHOWN = 2_000;

/** `gateway ready`: for health checks that run a command, on machines without an HTTP client. */
export function declareReadyCommand(command: Command): void {
  command.option("--url <url>", "Address of the gateway (default: the configured host and port)", readUrl);
  addExamples(command, ["gateway ready", "gateway ready --url https://gateway.example.com"]).action(
    async ({ url }: { readonly url?: string }) => {
      const isOwn = url === undefined ? true : undefined;
      print(await askReadiness(url ?? localUrl(loadConfig(process.env)), isOwn));
    },
  );
}

/** Returns the readiness that a gateway reports. @throws Error if it is not ready, or does not answer. */
async function askReadiness(url: string, isOwn?: true): Promise<string> {
  const asked = new URL("/readyz", url).href;
  const init: RequestInit = { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "error" };
  const response = await fetchGateway(asked, init, isOwn).catch((error: Error) => {
    throw new Error(`No gateway answers at ${asked}: ${error.message}`);
  });
  const text = (await response.text()).slice(0, MAX_SHOWN);
  if (!response.ok) throw new Error(`The gateway is not ready (${response.status}): ${text}`);
  return text;
}

import { expect } from "bun:test";
import { fetchGeneration, postChatTo } from "../support/gateway/gateway-process.ts";
import type { RunOptions } from "./run-program.ts";
import { type StartedGateway, startInstalled } from "./started-gateway.ts";

const CHAT = { model: "sandbox/echo", messages: [{ role: "user", content: "Hello!" }] };

/**
 * Checks an installation as its operator uses it: the start prints keys, a request is answered and recorded, the console and the
 * documentation load, the record outlives a kill, and SIGTERM ends the gateway with the exit code 0.
 */
export async function checkInstallation(command: readonly string[], options: RunOptions): Promise<void> {
  const first = await startInstalled(command, options);
  const key = first.inferenceKey;
  const id = await ask({ url: first.url, key });
  await checkPages(first);
  expect(await first.end("SIGKILL")).toBe("SIGKILL");
  const second = await startInstalled(command, options);
  expect(await fetchGeneration({ url: second.url, key }, id)).toMatchObject({ id, model: CHAT.model });
  await ask({ url: second.url, key });
  expect(await second.end("SIGTERM")).toBe(0);
}

/** Sends a request to the sandbox provider, and returns the id of its generation. */
async function ask(gateway: { readonly url: string; readonly key: string }): Promise<string> {
  const response = await postChatTo(gateway, CHAT);
  expect(response.status).toBe(200);
  const answer = (await response.json()) as {
    readonly id: string;
    readonly choices: readonly { readonly message: { readonly content: string } }[];
  };
  expect(answer.choices[0]?.message.content).toBe("You said: Hello!");
  return answer.id;
}

async function checkPages({ url }: StartedGateway): Promise<void> {
  const page = await (await fetch(`${url}/console`)).text();
  const assets = [...page.matchAll(/(?:href|src)="(\/console\/assets\/[^"]+)"/g)].map(([, path]) => path);
  expect(assets).toHaveLength(4);
  // A chunk is named in the file that loads it.
  const main = await (await fetch(`${url}${assets.find((path) => path?.endsWith("/main.js"))}`)).text();
  const [chunk] = /main-[0-9a-z]+\.js/.exec(main) ?? [];
  expect(chunk).toBeDefined();
  const chunks = [assets[0]?.replace(/[^/]+$/, chunk ?? "")];
  for (const path of [...assets, ...chunks]) {
    for (const encoding of ["br", "gzip", "identity"]) {
      const response = await fetch(`${url}${path}`, { headers: { "accept-encoding": encoding } });
      expect(`${path} ${response.status}`).toBe(`${path} 200`);
      expect((await response.text()).length).toBeGreaterThan(0);
    }
  }
  for (const path of [
    "/docs",
    "/docs/operations/install",
    "/docs/console/requests.webp",
    "/docs/reference",
    "/openapi.json",
    "/readyz",
  ])
    expect((await fetch(url + path)).status).toBe(200);
}

/**
 * Runs real command-line agents through the gateway, against simulated vendors: `npm run suite -- agents`. Agents are
 * installed with npm on first use and kept.
 *
 * --direct        without the gateway: checks that agents and simulated vendors work together
 * --only=<text>   cases whose line contains this text
 */
import { type GatewayProcess, makeSite } from "../support/gateway/gateway-process.ts";
import type { Agent, AgentTarget } from "./agents.ts";
import { type AgentCase, DIRECT_CASES, GATEWAY_CASES, type ProviderSlug } from "./cases.ts";
import { checkGenerations } from "./find-generations.ts";
import { AGENTS_DIR, type Installed, installAgent } from "./install-agent.ts";
import { type CaseResult, runCase } from "./run-case.ts";
import { endChildren } from "./run-child.ts";
import { createAnthropicMessages } from "./vendors/anthropic-messages.ts";
import { createGemini } from "./vendors/gemini.ts";
import { createOpenaiChat } from "./vendors/openai-chat.ts";
import { createOpenaiResponses } from "./vendors/openai-responses.ts";
import { type SimulatedVendor, startVendor } from "./vendors/simulated-vendor.ts";

/** The timeout of the whole run. */
const RUN_MS = 10 * 60_000;
/** The timeout of one case. An agent that waits for retries can use all of it. */
const CASE_MS = 90_000;
/** The timeout of one installation. */
const INSTALL_MS = 180_000;

type Vendors = Readonly<Record<ProviderSlug, SimulatedVendor>>;

const vendors: Vendors = {
  openai: startVendor(createOpenaiChat("openai"), createOpenaiResponses()),
  deepseek: startVendor(createOpenaiChat("deepseek")),
  anthropic: startVendor(createAnthropicMessages()),
  google: startVendor(createGemini()),
};

/** Returns the gateway's configuration: providers of the catalog at the URLs of the simulated vendors. */
function writeGatewayYaml({ openai, deepseek, anthropic, google }: Vendors): string {
  return `
server:
  extra_prefixes: [/api/openrouter]
  header_aliases: { x-kilocode-mode: x-gateway-mode }
providers:
  openai: { base_url: "${openai.origin}/v1", api_keys: ["${openai.key}"] }
  deepseek: { base_url: "${deepseek.origin}/v1", api_keys: ["${deepseek.key}"] }
  anthropic: { base_url: "${anthropic.origin}", api_keys: ["${anthropic.key}"] }
  google: { base_url: "${google.origin}", api_keys: ["${google.key}"] }
`;
}

function describeCase({ agent, provider, format, model }: AgentCase, isDirect: boolean): string {
  const way = isDirect ? `directly with ${provider}` : `through ${agent.api}`;
  return `${agent.name}, ${way}, on ${model} (${format})`;
}

/** Runs a case directly with the vendor. */
function runDirectly(one: AgentCase, binary: string, timeoutMs: number): Promise<CaseResult> {
  const vendor = vendors[one.provider];
  const { origin, key } = vendor;
  vendor.clear();
  // Anthropic's own client needs the base URL without a version.
  const base = one.provider === "anthropic" ? origin : `${origin}/v1`;
  return runCase(one, binary, { origin, base, key, model: one.model }, vendor, timeoutMs);
}

/** Runs a case through the gateway, and checks the generation records afterwards. */
async function runThrough(
  gateway: GatewayProcess,
  one: AgentCase,
  binary: string,
  timeoutMs: number,
): Promise<CaseResult> {
  for (const vendor of Object.values(vendors)) vendor.clear();
  const from = gateway.printed().length;
  const { url: origin, key } = gateway;
  const target: AgentTarget = { origin, base: `${origin}/api/gateway`, key, model: one.model };
  const vendor = vendors[one.provider];
  const { problems, printed } = await runCase(one, binary, target, vendor, timeoutMs);
  const recorded = await checkGenerations(gateway, from, one, vendor.requests);
  const sent = one.agent.usesWebSocket ? findRequestsOverHttp(gateway.printed().slice(from)) : [];
  return { problems: [...problems, ...recorded, ...sent], printed };
}

/** Returns a problem if an agent did not send all its requests over a WebSocket: agents fall back to HTTP without a word. */
function findRequestsOverHttp(log: string): string[] {
  const lines = log.split("\n").filter((line) => line.includes('"route":"/responses"'));
  const overHttp = lines.filter((line) => !line.includes('"transport":"websocket"'));
  return lines.length > 0 && overHttp.length === 0
    ? []
    : [`${overHttp.length} of ${lines.length} requests were sent over HTTP`];
}

function report(name: string, { problems, printed }: CaseResult, tookMs: number): void {
  console.log(`${problems.length === 0 ? "pass" : "FAIL"}  ${name}  ${(tookMs / 1000).toFixed(1)} s`);
  for (const problem of problems) console.log(`      - ${problem}`);
  if (problems.length > 0 && printed !== "") console.log(printed.replace(/^/gm, "      | "));
}

interface Tally {
  passed: number;
  failed: number;
}

async function runCases(cases: readonly AgentCase[], gateway: GatewayProcess | null): Promise<Tally> {
  const tally: Tally = { passed: 0, failed: 0 };
  for (const one of cases) {
    const name = describeCase(one, gateway === null);
    const installed = await findAgent(one.agent);
    if ("problem" in installed && process.env["CI"] !== "true") {
      console.log(`skip  ${name}\n      ${installed.problem}\n      ${HOW_TO_INSTALL}`);
      continue;
    }
    const begunMs = performance.now();
    const result =
      "problem" in installed ? failWith(installed.problem) : await runOne(one, gateway, installed.binary);
    report(name, result, performance.now() - begunMs);
    tally[result.problems.length === 0 ? "passed" : "failed"]++;
  }
  return tally;
}

const HOW_TO_INSTALL = `Installing needs npm's registry once; then the agent is kept in ${AGENTS_DIR} (GATEWAY_AGENTS_DIR).`;

const installs = new Map<string, Promise<Installed>>();

/** Installs each agent before its first case. */
function findAgent(agent: Agent): Promise<Installed> {
  const install = installs.get(agent.npmPackage) ?? installAgent(agent, Math.min(INSTALL_MS, leftMs()));
  installs.set(agent.npmPackage, install);
  return install;
}

function leftMs(): number {
  return Math.max(1, RUN_MS - performance.now());
}

function failWith(problem: string): CaseResult {
  return { problems: [problem], printed: "" };
}

function runOne(one: AgentCase, gateway: GatewayProcess | null, binary: string): Promise<CaseResult> {
  const timeoutMs = Math.min(CASE_MS, leftMs());
  return gateway === null ? runDirectly(one, binary, timeoutMs) : runThrough(gateway, one, binary, timeoutMs);
}

function chooseCases(isDirect: boolean): readonly AgentCase[] {
  const only = process.argv.find((arg) => arg.startsWith("--only="))?.slice("--only=".length) ?? "";
  const cases = isDirect ? DIRECT_CASES : GATEWAY_CASES;
  return cases.filter((one) => describeCase(one, isDirect).includes(only));
}

async function run(): Promise<Tally> {
  const isDirect = process.argv.includes("--direct");
  const cases = chooseCases(isDirect);
  if (isDirect) return runCases(cases, null);
  const site = makeSite(writeGatewayYaml(vendors));
  const gateway = await site.start();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, async () => {
      endChildren();
      await gateway.kill();
      site.remove();
      process.exit(1);
    });
  }
  try {
    return await runCases(cases, gateway);
  } finally {
    await gateway.terminate();
    site.remove();
  }
}

const { passed, failed } = await run();
for (const vendor of Object.values(vendors)) await vendor.stop();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && (passed > 0 || process.env["CI"] !== "true") ? 0 : 1);

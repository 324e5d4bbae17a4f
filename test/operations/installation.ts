import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { databaseVariables } from "../support/databases/test-databases.ts";
import { eventually } from "../support/eventually.ts";
import { type CommandRun, createWorkspace, type GatewayProcess } from "../support/gateway/run-gateway.ts";
import { startWebhookReceiver } from "../support/servers/webhook-receiver.ts";
import {
  closing,
  documentOf,
  opening,
  startVendor,
  textOf,
  type VendorCall,
} from "../support/vendors/vendor.ts";

export const ADMIN_KEY = "operator-0123456789abcdef";
export const METRICS_TOKEN = "metrics-0123456789abcdef";
export const WEBHOOK_SECRET = "webhooks-0123456789abcdef0123456789";
export const FIRST_PLATFORM_KEY = "sk-acme-first-0123456789";

/** What an answer of `acme/small` costs: ten tokens at a dollar and five at two dollars per million. Nanodollars. */
export const COST = 20_000;

/** An object of the API, as the commands print it with `--json`. */
export type Printed = Readonly<Record<string, unknown>> & { readonly id: string };

/** The status and the body of an answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** What the operator writes into gateway.yaml. */
export interface Settings {
  /** The operator's key at the provider. */
  readonly platformKey: string;
  readonly attempts: number;
  /** Further lines. */
  readonly more: string;
}

/**
 * An installation of one operator: a folder with gateway.yaml, where the `gateway` command is run and a gateway is started as a process.
 * Its provider `acme` answers with the keys that it knows; its provider `broken` answers every request with 500.
 */
export class Installation {
  readonly workspace = createWorkspace();
  readonly dataDir = join(this.workspace.folder, "data");
  readonly receiver = startWebhookReceiver();
  readonly vendor = startVendor((call) => this.answer(call));
  readonly brokenVendor = startVendor((call) => call.respond(500, { error: { message: "broken" } }));
  /** The keys that the provider takes. */
  readonly knownKeys = new Set([FIRST_PLATFORM_KEY]);
  /** The key of each complete answer of the provider. */
  readonly answered: string[] = [];
  /** Answers stop after their first text until `release`. */
  isHolding = false;
  settings: Settings = { platformKey: FIRST_PLATFORM_KEY, attempts: 3, more: "" };
  /** The variables of gateways and commands. */
  environment: Readonly<Record<string, string>> = { GATEWAY_ADMIN_KEY: ADMIN_KEY };
  private gateway: GatewayProcess | null = null;
  private readonly held: VendorCall[] = [];

  get url(): string {
    if (this.gateway === null) throw new Error("no gateway runs");
    return this.gateway.url;
  }

  get pid(): number {
    if (this.gateway === null) throw new Error("no gateway runs");
    return this.gateway.pid;
  }

  /** The text of gateway.yaml. */
  get yaml(): string {
    const { platformKey, attempts, more } = this.settings;
    const prices = '{prompt: "0.000001", completion: "0.000002"}';
    return `
providers:
  acme:
    base_url: "${this.vendor.baseUrl}"
    api_keys: ["${platformKey}"]
    models: [{id: acme/small, prices: ${prices}}, {id: acme/large, prices: ${prices}}]
  broken:
    name: Broken
    base_url: "${this.brokenVendor.baseUrl}"
    api_keys: ["sk-broken-0123456789"]
    models: [{id: broken/one}, {id: broken/two}]
server: {drain_notice_ms: 200}
limits: {attempts: ${attempts}, repeats: 0}
metrics: {token: ${METRICS_TOKEN}}
webhooks: [{url: "${this.receiver.url}", secret: "${WEBHOOK_SECRET}"}]
${more}`;
  }

  /** Writes gateway.yaml with these changes. A running gateway reads it when it reloads. */
  configure(changes: Partial<Settings> = {}): void {
    this.settings = { ...this.settings, ...changes };
    writeFileSync(join(this.workspace.folder, "gateway.yaml"), this.yaml);
  }

  /** The URL of its database, if it is PostgreSQL. */
  async databaseUrl(): Promise<string | undefined> {
    return (await databaseVariables(this.dataDir)).DATABASE_URL;
  }

  async start(): Promise<void> {
    this.gateway = await this.workspace.start(this.environment);
  }

  /** Sends SIGTERM, and resolves when the process has ended. */
  async stop(): Promise<CommandRun> {
    const { gateway } = this;
    if (gateway === null) throw new Error("no gateway runs");
    this.gateway = null;
    return gateway.stop();
  }

  /** Runs a command, which may fail. */
  run(...args: readonly string[]): Promise<CommandRun> {
    return this.workspace.run(args, this.environment);
  }

  /** Runs a command that asks the running gateway, which may fail. */
  ask(...args: readonly string[]): Promise<CommandRun> {
    return this.run(...args, "--url", this.url);
  }

  /**
   * Runs a command and returns what it prints.
   * @throws Error with its output if it fails.
   */
  async print(...args: readonly string[]): Promise<string> {
    return requireSuccess(args, await this.run(...args));
  }

  /** Runs a command with `--json`, and returns the object or the list that it prints. */
  async read<Data = Printed>(...args: readonly string[]): Promise<Data> {
    return JSON.parse(await this.print(...args, "--json")).data as Data;
  }

  /** Creates an API key, and returns its id and its secret. */
  async createKey(...args: readonly string[]): Promise<{ readonly id: string; readonly secret: string }> {
    const printed = JSON.parse(await this.print("keys", "create", ...args, "--json"));
    return { id: printed.data.id, secret: printed.key };
  }

  /** Stores a BYOK key, which the command reads from standard input. */
  async addProviderKey(account: string, secret: string): Promise<Printed> {
    const args = ["provider-keys", "add", "acme", "--account", account, "--json"];
    const options = { stdin: `${secret}\n`, environment: this.environment };
    const run = await this.workspace.runInOwnProcess(args, options);
    return JSON.parse(requireSuccess(args, run)).data as Printed;
  }

  /** Requests a chat completion at the running gateway, or at another one. */
  async chat(key: string, model = "acme/small", url = this.url): Promise<Answer> {
    const response = await this.post(key, { model, stream: false }, url);
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Requests a stream, and returns the text of all its events when it has ended. */
  async stream(key: string): Promise<string> {
    return (await this.post(key, { model: "acme/small", stream: true }, this.url)).text();
  }

  /** Lets the answers that stopped go on. */
  release(): void {
    this.isHolding = false;
    for (const call of this.held.splice(0)) call.openGate();
  }

  /** Waits until so many answers have stopped. */
  async untilHeld(count: number): Promise<void> {
    await eventually(`${count} answers that are held`, () => this.held.length >= count);
  }

  async remove(): Promise<void> {
    this.release();
    if (this.gateway !== null) await this.stop();
    this.vendor.stop();
    this.brokenVendor.stop();
    await this.receiver.stop();
    this.workspace.clear();
  }

  private post(
    key: string,
    { model, stream }: { model: string; stream: boolean },
    url: string,
  ): Promise<Response> {
    const messages = [{ role: "user", content: "What is on the agenda of today's meeting, please?" }];
    return fetch(`${url}/api/gateway/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, stream, max_tokens: 5, messages }),
    });
  }

  private async answer(call: VendorCall): Promise<void> {
    const key = /^authorization: Bearer (\S+)/im.exec(call.head)?.[1] ?? "";
    if (!this.knownKeys.has(key)) return call.respond(401, { error: { message: "unknown key" } });
    this.answered.push(key);
    if (!call.isStream) {
      await this.hold(call);
      return call.respond(200, documentOf("one two"));
    }
    await call.begin();
    await call.events(...opening("one"));
    await this.hold(call);
    await call.events(textOf(" two"), ...closing());
    await call.end();
  }

  private async hold(call: VendorCall): Promise<void> {
    if (!this.isHolding) return;
    this.held.push(call);
    await call.gate();
  }
}

function requireSuccess(args: readonly string[], { exitCode, stdout, stderr }: CommandRun): string {
  if (exitCode !== 0) throw new Error(`gateway ${args.join(" ")} exits with ${exitCode}: ${stderr}`);
  return stdout;
}

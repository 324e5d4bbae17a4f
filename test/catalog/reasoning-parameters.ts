import { join } from "node:path";
import { loadShippedCatalog } from "../../src/app/catalog/load-catalog.ts";
import { listEndpointFormats, listProviderFormats } from "../../src/core/catalog/profile/list-formats.ts";
import type { ModelEndpoint, ModelRecord, ProviderRecord } from "../../src/core/catalog/records/records.ts";
import { ServedDeployment } from "../../src/core/deployments/served-deployment.ts";
import type { Deployment } from "../../src/core/deployments/served-models.ts";
import { parseChatRequest } from "../../src/wire/client-apis/chat-request.ts";
import type { ProviderTarget } from "../../src/wire/client-apis/request/inference-request.ts";

/*
 * The fields that are sent for reasoning parameters, at every endpoint of the shipped catalog whose model reasons. `bun
 * test/catalog/reasoning-parameters.ts` writes the table again.
 */

/** The golden file of the table. */
export const TABLE_FILE = join(import.meta.dir, "reasoning-parameters.txt");

const REASONING = {
  on: { reasoning: { enabled: true } },
  off: { reasoning: { enabled: false } },
  low: { reasoning: { effort: "low" } },
} as const;
export type ReasoningName = keyof typeof REASONING;
export const REASONING_NAMES = Object.keys(REASONING) as ReasoningName[];

/** The effect of reasoning parameters: the fields that are sent, and the warnings for the client. */
export interface Outcome {
  readonly sent: string;
  readonly warnings: readonly string[];
}

/** One endpoint in one of its formats. */
export interface Row {
  readonly model: string;
  readonly provider: string;
  readonly format: string;
  /** How the model's reasoning can be controlled according to the catalog. */
  readonly control: string;
  readonly outcome: Readonly<Record<ReasoningName, Outcome>>;
}

/** Returns a row for every endpoint of a reasoning model in each of its formats. */
export function listRows(): readonly Row[] {
  const catalog = loadShippedCatalog();
  const providers = new Map(catalog.providers.map((provider) => [provider.slug, provider]));
  return catalog.models
    .filter(({ supportedParameters }) => supportedParameters.includes("reasoning"))
    .flatMap((model) =>
      model.endpoints.flatMap((endpoint) =>
        listOfEndpoint(model, endpoint, providers.get(endpoint.provider) as ProviderRecord),
      ),
    );
}

function listOfEndpoint(model: ModelRecord, endpoint: ModelEndpoint, record: ProviderRecord): Row[] {
  const formats = listEndpointFormats(endpoint, listProviderFormats(record));
  const provider = { record, formats, families: [] } as unknown as Deployment["provider"];
  return new ServedDeployment(model, endpoint, provider).targets("chat").map((target) => ({
    model: model.id,
    provider: record.slug,
    format: target.format,
    control: describeControl(model),
    outcome: { on: outcomeOf(target, "on"), off: outcomeOf(target, "off"), low: outcomeOf(target, "low") },
  }));
}

function describeControl({ reasoning }: ModelRecord): string {
  if (reasoning === undefined) return "nothing known";
  const { efforts, budgetTokens, canDisable, onlyWhenTold } = reasoning;
  const words = [
    efforts?.join("/"),
    budgetTokens && "budget",
    canDisable && "can be off",
    onlyWhenTold && "only when told",
  ];
  return words.filter(Boolean).join(", ");
}

const MESSAGES = [{ role: "user", content: "x" }];

/** Returns the fields of a request with reasoning parameters that differ from those of a request without them. */
function outcomeOf(target: ProviderTarget, name: ReasoningName): Outcome {
  const plain = encode(target, {});
  const { body, warnings } = encode(target, REASONING[name]);
  const sent = Object.entries(body).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(plain.body[field]),
  );
  return {
    sent: sent.length === 0 ? "-" : JSON.stringify(Object.fromEntries(sent)),
    warnings: warnings.filter(({ field }) => field.startsWith("reasoning")).map(({ message }) => message),
  };
}

function encode(provider: ProviderTarget, sent: object) {
  const body = { model: "m", messages: MESSAGES, max_tokens: 10_000, ...sent };
  const request = parseChatRequest(Buffer.from(JSON.stringify(body)), (id) => id);
  const encoded = request.encoding.encode({
    provider,
    withReasoning: true,
    overrides: null,
    recallTurn: () => null,
    hashUser: (user) => user,
  });
  return {
    body: JSON.parse(encoded.body.toString("utf8")) as Record<string, unknown>,
    warnings: encoded.warnings,
  };
}

/** Formats the table: one entry for all providers with the same fields for models with the same control. */
export function renderTable(rows: readonly Row[]): string {
  const providers = new Map<string, Set<string>>();
  for (const { provider, format, control, outcome } of rows) {
    const cells = REASONING_NAMES.map((name) => `  ${name}: ${render(outcome[name])}`).join("\n");
    const entry = `${format}, ${control}:\n${cells}`;
    providers.set(entry, (providers.get(entry) ?? new Set()).add(provider));
  }
  const entries = [...providers].map(([entry, at]) => `${entry}\n  at: ${[...at].sort().join(" ")}`);
  return `${entries.sort().join("\n\n")}\n`;
}

function render({ sent, warnings }: Outcome): string {
  return warnings.length === 0 ? sent : `${sent}  [${warnings.join(" ")}]`;
}

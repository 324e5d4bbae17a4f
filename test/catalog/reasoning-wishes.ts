import { join } from "node:path";
import { loadShippedCatalog } from "../../src/app/load-catalog.ts";
import { listEndpointFormats, listProviderFormats } from "../../src/core/catalog/list-formats.ts";
import type { ModelEndpoint, ModelRecord, ProviderRecord } from "../../src/core/catalog/records.ts";
import type { Deployment } from "../../src/core/deployments/served-models.ts";
import { listProviderTargets } from "../../src/core/generation/upstream-target.ts";
import { parseChatRequest } from "../../src/wire/client-apis/chat-request.ts";
import type { ProviderTarget } from "../../src/wire/client-apis/inference-request.ts";

/*
 * What goes out for a wish for reasoning, for every endpoint of the shipped catalog whose model reasons. `bun
 * test/catalog/reasoning-wishes.ts` writes the table anew.
 */

/** The golden file of the table. */
export const TABLE_FILE = join(import.meta.dir, "reasoning-wishes.txt");

const WISHES = {
  on: { reasoning: { enabled: true } },
  off: { reasoning: { enabled: false } },
  low: { reasoning: { effort: "low" } },
} as const;
export type WishName = keyof typeof WISHES;
export const WISH_NAMES = Object.keys(WISHES) as WishName[];

/** What a vendor is told for a wish: the fields, and the warnings that the client gets. */
export interface Told {
  readonly said: string;
  readonly warned: readonly string[];
}

/** One endpoint in one of its formats. */
export interface Row {
  readonly model: string;
  readonly provider: string;
  readonly format: string;
  /** How the model is steered, as the catalog says it. */
  readonly control: string;
  readonly told: Readonly<Record<WishName, Told>>;
}

/** Every endpoint of a model that reasons, in each of its formats. */
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
  const provider = { record, formats } as unknown as Deployment["provider"];
  return listProviderTargets({ model, endpoint, provider, keys: [] }).map((target) => ({
    model: model.id,
    provider: record.slug,
    format: target.format,
    control: describeControl(model),
    told: { on: tell(target, "on"), off: tell(target, "off"), low: tell(target, "low") },
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

/** What the target is told beyond what it is told of a request that says nothing of reasoning. */
function tell(target: ProviderTarget, name: WishName): Told {
  const plain = encode(target, {});
  const { body, warnings } = encode(target, WISHES[name]);
  const said = Object.entries(body).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(plain.body[field]),
  );
  return {
    said: said.length === 0 ? "-" : JSON.stringify(Object.fromEntries(said)),
    warned: warnings.filter(({ field }) => field.startsWith("reasoning")).map(({ message }) => message),
  };
}

function encode(target: ProviderTarget, said: object) {
  const body = { model: "m", messages: MESSAGES, max_tokens: 10_000, ...said };
  const request = parseChatRequest(Buffer.from(JSON.stringify(body)), (id) => id);
  const encoded = request.encode({
    ...target,
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

/** The table as text: an entry for all providers that are told the same of models that are steered alike. */
export function renderTable(rows: readonly Row[]): string {
  const providers = new Map<string, Set<string>>();
  for (const { provider, format, control, told } of rows) {
    const cells = WISH_NAMES.map((name) => `  ${name}: ${render(told[name])}`).join("\n");
    const entry = `${format}, ${control}:\n${cells}`;
    providers.set(entry, (providers.get(entry) ?? new Set()).add(provider));
  }
  const entries = [...providers].map(([entry, at]) => `${entry}\n  at: ${[...at].sort().join(" ")}`);
  return `${entries.sort().join("\n\n")}\n`;
}

function render({ said, warned }: Told): string {
  return warned.length === 0 ? said : `${said}  [${warned.join(" ")}]`;
}

if (import.meta.main) await Bun.write(TABLE_FILE, renderTable(listRows()));

import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { parse } from "yaml";
import type { Config } from "../../app/config-schema.ts";
import type { Stores } from "../../app/stores.ts";
import { createTierManager } from "../../app/tier-manager.ts";
import { presentListedTier } from "../../core/catalog/present-listed-tier.ts";
import type { ListedTier } from "../../core/catalog/tier-manager.ts";
import { TIER_PREFIX } from "../../core/catalog/tier-name.ts";
import type { TierRecord } from "../../core/catalog/tier-records.ts";
import { tierSchema } from "../../core/catalog/tier-schema.ts";
import { listNamedModels } from "../../core/catalog/tiers.ts";
import { withStores } from "../callers/with-stores.ts";
import { addJsonOption, type JsonOption } from "../endpoint/read-options.ts";
import { type NameSource, resolveName } from "../endpoint/resolve-name.ts";
import { auditCommand } from "../operate/audit-command.ts";
import { formatFields, formatTable } from "../render/format-table.ts";

const ID_HELP = "ID of the tier, gateway-auto/…";
const TIER_HELP = "Tier: ID, with or without gateway-auto/, or name";

/** `gateway tiers list|show|set|delete`: the model ids that stand for a choice of models. A gateway may be running on the same stores. */
export function declareTierCommands(tiers: Command): void {
  addJsonOption(
    tiers.command("list").description("List the tiers in force and where each is defined"),
  ).action((options: JsonOption) => withTiers((scene) => list(scene, options)));
  addJsonOption(tiers.command("show").description("Show a tier").argument("<tier>", TIER_HELP)).action(
    (tier: string, options: JsonOption) => withTiers((scene) => show(scene, tier, options)),
  );
  addJsonOption(
    tiers
      .command("set")
      .description("Create or replace a tier in the stores; running gateways use it within a second")
      .argument("<id>", ID_HELP)
      .requiredOption("--file <path>", "File with the tier in YAML or JSON, without its id (docs/tiers.md)"),
  ).action((id: string, options: SetOptions) => withTiers((scene) => set(scene, id, options)));
  addJsonOption(
    tiers
      .command("delete")
      .description("Delete a tier from the stores; one of the catalog with its id is in force again")
      .argument("<tier>", TIER_HELP),
  ).action((tier: string, options: JsonOption) => withTiers((scene) => remove(scene, tier, options)));
}

interface Scene {
  readonly stores: Stores;
  readonly manager: ReturnType<typeof createTierManager>;
}

function withTiers(run: (scene: Scene) => Promise<string>): Promise<void> {
  return withStores((stores, config: Config) => {
    const { tiers: store, clock } = stores;
    return run({ stores, manager: createTierManager({ config: () => config, store, clock }) });
  });
}

async function list({ manager }: Scene, { json }: JsonOption): Promise<string> {
  const tiers = await manager.list();
  if (json) return JSON.stringify({ data: tiers.map(presentListedTier) });
  const rows = tiers.map((listed) => [
    listed.tier.id,
    listed.tier.name,
    printSource(listed),
    `by ${listed.tier.rule.by}`,
    String(listNamedModels(listed.tier.rule).length),
  ]);
  return formatTable(["tier", "name", "defined in", "rule", "models"], rows);
}

function printSource({ source, file, line, replaces }: ListedTier): string {
  const place = file === null ? source : `${file}:${line}`;
  return replaces.length === 0 ? place : `${place}, replaces ${replaces.join(", ")}`;
}

async function show(scene: Scene, text: string, { json }: JsonOption): Promise<string> {
  const data = presentListedTier(await find(scene, text));
  if (json) return JSON.stringify({ data });
  return formatFields({ ...data, rule: JSON.stringify(data.rule) });
}

async function find({ manager }: Scene, text: string): Promise<ListedTier> {
  const tiers = await manager.list();
  const wanted = text.toLowerCase();
  const source: NameSource<ListedTier> = {
    noun: "tier",
    listedBy: "gateway tiers list",
    find: async (id) => tiers.find(({ tier }) => tier.id === id) ?? null,
    findByText: async () =>
      tiers.filter(({ tier }) => tier.id === TIER_PREFIX + wanted || tier.name.toLowerCase() === wanted),
    listSome: async () => tiers,
    describe: ({ tier }) => ({
      id: tier.id,
      name: tier.name,
      aliases: [tier.id, tier.id.slice(TIER_PREFIX.length)],
      isPreferred: true,
      details: "",
    }),
  };
  return resolveName(source, text);
}

interface SetOptions extends JsonOption {
  readonly file: string;
}

async function set(scene: Scene, id: string, { file, json }: SetOptions): Promise<string> {
  const { stores, manager } = scene;
  const tier = readTier(id, file);
  const before = await manager.put(tier);
  await auditTier(stores, "set", { target: id, changes: { before, after: tier } });
  if (json) return JSON.stringify({ data: presentListedTier(await find(scene, id)) });
  return `${before === null ? "Stored" : "Replaced"} ${id}. A running gateway uses it within a second.`;
}

/** @throws Error that names the file and the first invalid field. */
function readTier(id: string, file: string): TierRecord {
  const written = parse(readFileSync(file, "utf8")) as unknown;
  if (typeof written !== "object" || written === null)
    throw new Error(`${file}: must be a mapping with the fields of a tier, such as name and rule`);
  const { success, data, error } = tierSchema.safeParse({ ...written, id });
  if (success) return data;
  const [issue] = error.issues;
  throw new Error(`${file}: ${issue?.path.join(".") || "the tier"}: ${issue?.message ?? "is not valid"}`);
}

async function remove(scene: Scene, text: string, { json }: JsonOption): Promise<string> {
  const { stores, manager } = scene;
  const { id } = (await find(scene, text)).tier;
  const before = await manager.remove(id);
  await auditTier(stores, "delete", { target: id, changes: { before, after: null } });
  return json ? JSON.stringify({ data: { id, deleted: true } }) : `Deleted ${id}.`;
}

function auditTier(
  stores: Stores,
  word: string,
  change: { readonly target: string; readonly changes: Record<string, unknown> },
): Promise<void> {
  return auditCommand(stores, { action: `gateway tiers ${word}`, accountId: null, ...change });
}

import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { parse } from "yaml";
import type { Config } from "../../app/config-schema.ts";
import { listConfiguredRoutes } from "../../app/load-named-routes.ts";
import type { Stores } from "../../app/stores.ts";
import { presentListedRoute } from "../../core/named-routes/present-named-route.ts";
import { type ListedRoute, NamedRouteManager } from "../../core/named-routes/route-manager.ts";
import type { RouteDefinition } from "../../core/named-routes/route-records.ts";
import { definitionSchema } from "../../core/named-routes/route-schema.ts";
import { withStores } from "../callers/with-stores.ts";
import { resolveAccount } from "../endpoint/named-resources.ts";
import { addExamples, addJsonOption, type JsonOption } from "../endpoint/read-options.ts";
import { suggestNames } from "../endpoint/resolve-name.ts";
import { auditCommand } from "../operate/audit-command.ts";
import { formatFields, formatTable } from "../render/format-table.ts";
import { printTime } from "../render/print-values.ts";

interface OwnerOptions extends JsonOption {
  readonly account?: string;
}

interface SetOptions extends OwnerOptions {
  readonly target?: string;
  readonly file?: string;
}

const NAME_HELP = "Name of the route: what clients send as model";

/** `gateway named-routes …`: names that stand for models. A gateway may be running on the same stores. */
export function declareNamedRouteCommands(routes: Command): void {
  addOptions(routes.command("list").description("List named routes and where each is defined")).action(
    (options: OwnerOptions) => withRoutes(options, (scene) => list(scene, options)),
  );
  addOptions(routes.command("show").description("Show a named route").argument("<name>", NAME_HELP)).action(
    (name: string, options: OwnerOptions) => withRoutes(options, (scene) => show(scene, name, options)),
  );
  addSetCommand(routes);
  addOptions(
    routes
      .command("delete")
      .description("Delete a named route with all its versions")
      .argument("<name>", NAME_HELP),
  ).action((name: string, options: OwnerOptions) =>
    withRoutes(options, (scene) => remove(scene, name, options)),
  );
  addOptions(
    routes
      .command("versions")
      .description("List the last versions of a named route, the latest first")
      .argument("<name>", NAME_HELP),
  ).action((name: string, options: OwnerOptions) =>
    withRoutes(options, (scene) => listVersions(scene, name, options)),
  );
  addOptions(
    routes
      .command("restore")
      .description("Restore an earlier version of a named route, as its next version")
      .argument("<name>", NAME_HELP)
      .argument("<version>", "Number of the version"),
  ).action((name: string, version: string, options: OwnerOptions) =>
    withRoutes(options, (scene) => restore(scene, { name, version }, options)),
  );
}

function addSetCommand(routes: Command): void {
  const command = routes
    .command("set")
    .description("Create or replace a named route; running gateways use it within a second")
    .argument("<name>", NAME_HELP)
    .option("--target <id>", "Make it an alias of this model, tier or named route")
    .option("--file <path>", "File with the definition in YAML or JSON (docs/named-routes.md)");
  addExamples(command, [
    "gateway named-routes set gpt-4o --target openai/gpt-5-mini",
    "gateway named-routes set fast --account Acme --file fast.yaml",
  ]);
  addOptions(command).action((name: string, options: SetOptions) =>
    withRoutes(options, (scene) => set(scene, name, options)),
  );
}

function addOptions(command: Command): Command {
  return addJsonOption(
    command.option(
      "--account <account>",
      "Account that owns the route. Defaults to the routes of the operator",
    ),
  );
}

interface Scene {
  readonly stores: Stores;
  readonly manager: NamedRouteManager;
  readonly accountId: string | null;
}

function withRoutes({ account }: OwnerOptions, run: (scene: Scene) => Promise<string>): Promise<void> {
  return withStores(async (stores, config: Config) => {
    const { namedRoutes: store, clock } = stores;
    const accountId = account === undefined ? null : (await resolveAccount(stores, account)).id;
    const manager = new NamedRouteManager({ store, clock, configured: () => listConfiguredRoutes(config) });
    return run({ stores, manager, accountId });
  });
}

async function list({ manager, accountId }: Scene, { json }: JsonOption): Promise<string> {
  const routes = await manager.list(accountId);
  if (json) return JSON.stringify({ data: routes.map(presentListedRoute) });
  const rows = routes.map((listed) => [
    listed.route.name,
    listed.route.definition.kind,
    printTargets(listed.route.definition),
    listed.file === null ? listed.source : `${listed.file}:${listed.line}`,
    String(listed.route.version ?? ""),
  ]);
  return formatTable(["name", "kind", "leads to", "defined in", "version"], rows);
}

function printTargets(definition: RouteDefinition): string {
  if (definition.kind === "alias") return definition.target;
  if (definition.kind === "preset") return definition.model ?? "";
  return definition.targets.map(({ model, weight }) => `${model} ${weight}`).join(", ");
}

async function show(scene: Scene, name: string, { json }: JsonOption): Promise<string> {
  const data = presentListedRoute(await find(scene, name));
  if (json) return JSON.stringify({ data });
  return formatFields({ ...data, definition: JSON.stringify(data.definition) });
}

async function find({ manager, accountId }: Scene, name: string): Promise<ListedRoute> {
  const routes = await manager.list(accountId);
  const found = routes.find(({ route }) => route.name === name.toLowerCase());
  if (found !== undefined) return found;
  const names = routes.map(({ route }) => route.name);
  throw new Error(
    `There is no named route ${name}.${suggestNames(name, names)} List them: gateway named-routes list`,
  );
}

async function set(scene: Scene, name: string, options: SetOptions): Promise<string> {
  const address = { accountId: scene.accountId, name: name.toLowerCase() };
  const definition = readDefinition(options);
  const { before } = await scene.manager.put(address, definition);
  await audit(scene, "set", { target: address.name, changes: { before, after: definition } });
  if (options.json) return show(scene, name, options);
  return `${before === null ? "Stored" : "Replaced"} ${address.name}. A running gateway uses it within a second.`;
}

/** @throws Error that names the option, or the file and the first invalid field. */
function readDefinition({ target, file }: SetOptions): RouteDefinition {
  if ((target === undefined) === (file === undefined))
    throw new Error("give either --target <id> for an alias, or --file <path>");
  const written =
    file === undefined ? { kind: "alias", target } : (parse(readFileSync(file, "utf8")) as unknown);
  const { success, data, error } = definitionSchema.safeParse(written);
  if (success) return data;
  const [issue] = error.issues;
  throw new Error(
    `${file ?? "--target"}: ${issue?.path.join(".") || "the definition"}: ${issue?.message ?? "is not valid"}`,
  );
}

async function remove(scene: Scene, name: string, { json }: JsonOption): Promise<string> {
  const address = { accountId: scene.accountId, name: name.toLowerCase() };
  const before = await scene.manager.remove(address);
  await audit(scene, "delete", { target: address.name, changes: { before, after: null } });
  return json ? JSON.stringify({ data: { name: address.name, deleted: true } }) : `Deleted ${address.name}.`;
}

async function listVersions(scene: Scene, name: string, { json }: JsonOption): Promise<string> {
  const versions = await scene.manager.listVersions({
    accountId: scene.accountId,
    name: name.toLowerCase(),
  });
  const data = versions.map(({ version, definition, updatedAt }) => ({
    version,
    definition,
    updated_at: new Date(updatedAt).toISOString(),
  }));
  if (json) return JSON.stringify({ data });
  const rows = versions.map(({ version, updatedAt, definition }) => [
    String(version),
    printTime(updatedAt),
    definition.kind,
    printTargets(definition),
  ]);
  return formatTable(["version", "stored", "kind", "leads to"], rows);
}

async function restore(
  scene: Scene,
  { name, version }: { readonly name: string; readonly version: string },
  options: OwnerOptions,
): Promise<string> {
  if (!/^[1-9]\d{0,8}$/.test(version)) throw new Error("<version> must be the number of a version");
  const address = { accountId: scene.accountId, name: name.toLowerCase() };
  const { route, before } = await scene.manager.restore(address, Number(version));
  await audit(scene, "restore", { target: address.name, changes: { before, after: route.definition } });
  if (options.json) return show(scene, name, options);
  return `Restored version ${version} of ${address.name} as version ${route.version}.`;
}

function audit(
  { stores, accountId }: Scene,
  word: string,
  change: { readonly target: string; readonly changes: Record<string, unknown> },
): Promise<void> {
  return auditCommand(stores, { action: `gateway named-routes ${word}`, accountId, ...change });
}

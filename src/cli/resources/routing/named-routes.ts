import type { Command } from "commander";
import type { RouteDefinition } from "../../../core/named-routes/route-records.ts";
import {
  deleteNamedRoute,
  getNamedRoute,
  listNamedRoutes,
  listNamedRouteVersions,
  putNamedRoute,
  restoreNamedRoute,
} from "../../../http/routes/routing/admin-named-routes.ts";
import type { Caller } from "../../callers/caller.ts";
import { type ArgumentSpec, type CommandRun, defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { accountsOf } from "../../endpoint/named-resources.ts";
import { readDefinition } from "../../endpoint/read-definition.ts";
import { type Named, type NameSource, resolveName } from "../../endpoint/resolve-name.ts";
import { type Column, printText, tableOf } from "../../render/columns.ts";
import { formatFields } from "../../render/format-table.ts";

const NAME: ArgumentSpec = {
  name: "<name>",
  help: "Name of the route: what clients send as model",
  field: "name",
};

const DEFINITION: readonly Column[] = [
  ["kind", "definition", (definition) => (definition as RouteDefinition).kind],
  ["leads to", "definition", (definition) => printTargets(definition as RouteDefinition)],
];

/** `gateway named-routes …`: names that clients may send as model. */
export function declareNamedRouteCommands(routes: Command): void {
  declareCommands(routes, [
    defineCommand({
      name: "list",
      endpoint: listNamedRoutes,
      show: tableOf([
        "name",
        ...DEFINITION,
        [
          "defined in",
          "source",
          (source, { file, line }) => (file === null ? printText(source) : `${file}:${line}`),
        ],
        "version",
      ]),
    }),
    defineCommand({
      name: "show",
      endpoint: getNamedRoute,
      args: [{ ...NAME, named: routesOf }],
      show: ({ data }) => formatFields({ ...data, definition: JSON.stringify(data.definition) }),
    }),
    defineCommand({
      name: "set",
      description: "Create or replace a named route. Running gateways use it within a second",
      endpoint: putNamedRoute,
      args: [NAME],
      options: [
        {
          flags: "--target <id>",
          help: "Make it an alias of this model, tier or named route",
          field: null,
        },
        {
          flags: "--provider <slug>",
          help: "With --target: the only provider that may answer",
          field: null,
        },
        {
          flags: "--file <path>",
          help: "File with the definition in YAML or JSON (docs/named-routes.md)",
          field: null,
        },
      ],
      examples: [
        "gateway named-routes set gpt-4o --target openai/gpt-5-mini",
        "gateway named-routes set 'groq/*' --target '*' --provider groq",
        "gateway named-routes set fast --account Acme --file fast.yaml",
      ],
      async complete(_, { options: { target, provider, file } }) {
        if ((target === undefined) === (file === undefined))
          throw new Error("give either --target <id> for an alias, or --file <path>");
        if (file !== undefined && provider !== undefined)
          throw new Error("--provider belongs to --target; the file has `provider` of its own");
        const alias = { kind: "alias", target, ...(provider === undefined ? {} : { provider }) };
        return { body: file === undefined ? alias : readDefinition(String(file)) };
      },
      show: ({ data }) => `Stored ${data.name}. A running gateway uses it within a second.`,
    }),
    defineCommand({
      name: "delete",
      endpoint: deleteNamedRoute,
      args: [NAME],
      show: ({ data }) => `Deleted ${data.name}.`,
    }),
    defineCommand({
      name: "versions",
      endpoint: listNamedRouteVersions,
      args: [NAME],
      show: tableOf(["version", ["stored", "updated_at"], ...DEFINITION]),
    }),
    defineCommand({
      name: "restore",
      endpoint: restoreNamedRoute,
      args: [NAME, { name: "<version>", help: "Number of the version", field: "version" }],
      async complete({ body: { version } }) {
        if (!/^[1-9]\d{0,8}$/.test(String(version)))
          throw new Error("<version> must be the number of a version");
        return { body: { version: Number(version) } };
      },
      show: ({ data }, { args: [, version] }) =>
        `Restored version ${version} of ${data.name} as version ${data.version}.`,
    }),
  ]);
}

function printTargets(definition: RouteDefinition): string {
  if (definition.kind === "alias") return printTarget(definition.target, definition.provider);
  if (definition.kind === "preset") return definition.model ?? "";
  return definition.targets
    .map(({ model, provider, weight }) => `${printTarget(model, provider)} ${weight}`)
    .join(", ");
}

function printTarget(target: string, provider: string | undefined): string {
  return provider === undefined ? target : `${target} at ${provider}`;
}

/** Returns the source in which the routes of the account of `--account` are looked up. */
function routesOf(caller: Caller, { options: { account } }: Pick<CommandRun, "options">): NameSource {
  const listSome = async (): Promise<readonly Named[]> => {
    const query =
      account === undefined
        ? {}
        : { account_id: (await resolveName(accountsOf()(caller), String(account))).id };
    const { data } = (await caller.call(listNamedRoutes, { query })).body as {
      readonly data: readonly { readonly name: string }[];
    };
    return data.map(({ name }) => ({ id: name, name, aliases: [], isPreferred: true, details: "" }));
  };
  const findByText = async (text: string) =>
    (await listSome()).filter(({ name }) => name === text.toLowerCase());
  return {
    noun: "named route",
    listedBy: "gateway named-routes list",
    find: async (name) => (await findByText(name))[0] ?? null,
    findByText,
    listSome,
  };
}

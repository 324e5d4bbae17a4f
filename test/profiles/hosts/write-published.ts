import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { VENDOR_DOCUMENTS, type VendorDocument } from "./documents.ts";
import { readDiscovery } from "./read-discovery.ts";
import { type ReadSchema, readOpenapi } from "./read-openapi.ts";
import { readServiceModel } from "./read-service-model.ts";
import { readTypedDicts } from "./read-typed-dicts.ts";
import type { Schema } from "./schema.ts";

/**
 * Writes the files of `published` from vendors' documents, which are downloaded by hand into one folder (`documents.ts` says what of each):
 * `npx bun test/profiles/hosts/write-published.ts <folder> [name]`.
 */
const TAGS: ReadonlySet<string> = new Set(["type", "role"]);

const [folder, only] = process.argv.slice(2);
if (folder === undefined) throw new Error("name the folder of the downloaded documents");
for (const document of VENDOR_DOCUMENTS)
  if (only === undefined || document.name === only) {
    const read = changeFields(readDocument(document, folder), document);
    const { body, definitions } = loosenBelow(read, document);
    const { source, date } = document;
    const file = join(import.meta.dir, "published", `${document.name}.json`);
    const text = writeByLines({ source, date, body, definitions: sortByName(reachable(body, definitions)) });
    await Bun.write(file, text);
    console.log(`${document.name}: ${text.length} bytes`);
  }

function readDocument({ from, read }: VendorDocument, folder: string): ReadSchema {
  const path = join(folder, from);
  if ("typedDict" in read) return readTypedDicts(readSources(path), read.file, read.typedDict);
  const text = readFileSync(path, "utf8");
  const document = path.endsWith(".yaml") ? Bun.YAML.parse(text) : JSON.parse(text);
  if ("openapi" in read) return readOpenapi(document, read.openapi);
  if ("discovery" in read) return readDiscovery(document, read.discovery);
  return readServiceModel(document, read.serviceModel);
}

function readSources(folder: string): Record<string, string> {
  const names = readdirSync(join(folder, "types"), { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".py")).map((name) => join("types", name));
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
}

/** Leaves out what the vendor does not support, and adds what it names elsewhere. */
function changeFields(
  { body, definitions }: ReadSchema,
  { unsupported = [], also = {} }: VendorDocument,
): ReadSchema {
  const added = Object.fromEntries(Object.entries(also).map(([name, { schema }]) => [name, schema]));
  const change = (schema: Schema): Schema => {
    const target = schema.$ref === undefined ? schema : (definitions[schema.$ref] as Schema);
    const kept = Object.entries(target.properties ?? {}).filter(([name]) => !unsupported.includes(name));
    return { ...target, properties: { ...Object.fromEntries(kept), ...added } };
  };
  const alternatives = (body.anyOf ?? [body]).map(change);
  return {
    body: alternatives.length === 1 ? (alternatives[0] as Schema) : { anyOf: alternatives },
    definitions,
  };
}

/** Opens the objects below the body where the vendor is not known to check them. */
function loosenBelow(
  { body, definitions }: ReadSchema,
  { isOpenBelow, optional = [], unchecked = [] }: VendorDocument,
): ReadSchema {
  const loosen = (schema: Schema): Schema => {
    const { required = [], ...rest } = schema;
    // What tells alternatives apart stays.
    const isNeeded = (name: string) => (isOpenBelow === true ? TAGS.has(name) : !optional.includes(name));
    const needed = required.filter(isNeeded);
    return {
      ...rest,
      ...(schema.items === undefined ? {} : { items: loosen(schema.items) }),
      ...(schema.anyOf === undefined ? {} : { anyOf: schema.anyOf.map(loosen) }),
      ...(schema.properties === undefined ? {} : { properties: loosenMembers(schema.properties) }),
      ...(isOpenBelow === true && schema.properties !== undefined ? { additionalProperties: true } : {}),
      ...(needed.length === 0 ? {} : { required: needed }),
    };
  };
  const anything = Object.fromEntries(unchecked.map((name) => [name, {}]));
  const loosenMembers = (members: Readonly<Record<string, Schema>>): Record<string, Schema> => ({
    ...Object.fromEntries(Object.entries(members).map(([name, one]) => [name, loosen(one)])),
    ...anything,
  });
  const loosenBody = (schema: Schema): Schema => ({
    ...schema,
    ...(schema.properties === undefined ? {} : { properties: loosenMembers(schema.properties) }),
    ...(schema.anyOf === undefined ? {} : { anyOf: schema.anyOf.map(loosenBody) }),
  });
  const loosened = Object.entries(definitions).map(([name, one]) => [name, loosen(one)] as const);
  return { body: loosenBody(body), definitions: Object.fromEntries(loosened) };
}

/** The definitions that the body needs. */
function reachable(
  body: ReadSchema["body"],
  definitions: ReadSchema["definitions"],
): ReadSchema["definitions"] {
  const found = new Map<string, ReadSchema["body"]>();
  const waiting: unknown[] = [body];
  while (waiting.length > 0) {
    const text = JSON.stringify(waiting.pop());
    for (const [, name = ""] of text.matchAll(/"\$ref":"([^"]+)"/g)) {
      if (found.has(name)) continue;
      found.set(name, definitions[name] ?? {});
      waiting.push(definitions[name] ?? {});
    }
  }
  return Object.fromEntries(found);
}

function sortByName(definitions: ReadSchema["definitions"]): ReadSchema["definitions"] {
  return Object.fromEntries(Object.entries(definitions).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** One line for each definition, so that a difference between two versions can be read. */
function writeByLines({
  source,
  date,
  body,
  definitions,
}: ReadSchema & { source: string; date: string }): string {
  const lines = Object.entries(definitions).map(
    ([name, one]) => `    ${JSON.stringify(name)}: ${JSON.stringify(one)}`,
  );
  const list = lines.length === 0 ? "{}" : `{\n${lines.join(",\n")}\n  }`;
  const head = `  "source": ${JSON.stringify(source)},\n  "date": ${JSON.stringify(date)},\n`;
  return `{\n${head}  "body": ${JSON.stringify(body)},\n  "definitions": ${list}\n}\n`;
}

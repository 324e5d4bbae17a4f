import type { Random } from "../../base/secrets/random.ts";
import { SECRET } from "../../core/settings/config-marks.ts";
import type { NewSecret } from "../../core/stored-config/config-manager.ts";
import type { ConfigValue } from "../../core/stored-config/config-store.ts";
import { schemasAt } from "../config/schema-paths.ts";
import type { SettingEntry } from "../config/setting-paths.ts";

/** A setting without secrets, and the secrets that were in it. */
interface SealedEntry {
  readonly entry: SettingEntry;
  readonly secrets: readonly NewSecret[];
}

/** Replaces the secrets in a setting by references, unless they are references already. Returns the secrets with new ids. */
export function takeSecrets({ path, value }: SettingEntry, random: Random): SealedEntry {
  const secrets: NewSecret[] = [];
  const replaced = replaceTexts(value, path, (text, at) => {
    if (text.includes("${") || !isSecretAt(at)) return text;
    const id = `${nameSecret(path[0] === "providers" ? path.slice(1, 2) : path)}-${Buffer.from(random.bytes(ID_BYTES)).toString("hex")}`;
    secrets.push({ id, value: text });
    return `\${secret:${id}}`;
  });
  return { entry: { path, value: replaced }, secrets };
}

const ID_BYTES = 4;
/** The longest name before the random part of an id. Characters. */
const NAME_CHARS = 48;

/** Returns an id for a secret from the words of its setting or variable. */
export function nameSecret(words: readonly string[]): string {
  const name = words
    .join("-")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, NAME_CHARS)
    .replace(/^-+|-+$/g, "");
  return name === "" ? "secret" : name;
}

/** Returns whether the text at a path of the configuration is a secret. */
export function isSecretAt(path: readonly PropertyKey[]): boolean {
  return schemasAt(path).some((schema) => schema[SECRET] === true);
}

/** Returns a value with each text replaced. `path` is that of the value. */
export function replaceTexts(
  value: ConfigValue,
  path: readonly PropertyKey[],
  replace: (text: string, path: readonly PropertyKey[]) => ConfigValue,
): ConfigValue {
  if (typeof value === "string") return replace(value, path);
  if (Array.isArray(value)) return value.map((item, index) => replaceTexts(item, [...path, index], replace));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    replaceTexts(member, [...path, name], replace),
  ]);
  return Object.fromEntries(members);
}

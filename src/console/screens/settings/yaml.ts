/** YAML in the browser. A file of its own, which is loaded when a configuration is saved or read as YAML. */
import { parse, stringify } from "yaml";

/** Returns a document as YAML. */
export function printYaml(document: unknown): string {
  return stringify(document, { lineWidth: 0 });
}

/** Parses YAML, of which JSON is a part. @throws Error */
export function parseYaml(typed: string): unknown {
  return parse(typed, { maxAliasCount: 100 });
}
